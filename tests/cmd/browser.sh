# A browser without a window for test scripts, driven by Chromium's DevTools protocol through two pipes. Source this file.
# shellcheck shell=bash

# browser_start FOLDER: starts it; its files go there. browser_stop ends it.
browser_start() {
    local reply
    mkdir -p "$1"
    mkfifo "$1/to" "$1/from"
    chromium --headless=new --no-sandbox --disable-gpu --user-data-dir="$1/profile" --window-size=1240,1000 \
        --force-color-profile=srgb --remote-debugging-pipe 3<"$1/to" 4>"$1/from" >"$1/log" 2>&1 &
    browser_process=$!
    exec {browser_to}>"$1/to" {browser_from}<"$1/from"
    browser_number=0 browser_session=
    browser_call Target.createTarget '{"url": "about:blank"}' || return 1
    browser_call Target.attachToTarget "{\"targetId\": $(jq .result.targetId <<<"$reply"), \"flatten\": true}" || return 1
    browser_session=$(jq -r .result.sessionId <<<"$reply")
    browser_call Page.enable
}

browser_stop() {
    browser_call Browser.close
    exec {browser_to}>&- {browser_from}<&-
    wait "$browser_process" 2>/dev/null
}

# browser_call METHOD [PARAMETERS]: sends a command and waits for its answer, which goes to $reply. Fails if it is an error.
browser_call() {
    local parameters=${2:-'{}'} session="\"sessionId\": \"$browser_session\", "
    case $1 in Browser.* | Target.*) session= ;; esac
    browser_number=$((browser_number + 1))
    printf '{"id": %d, %s"method": "%s", "params": %s}\0' "$browser_number" "$session" "$1" "$parameters" >&"$browser_to"
    while IFS= read -r -d '' -t 300 -u "$browser_from" reply; do
        case $reply in
        "{\"id\":$browser_number,\"error\""*) return 1 ;;
        "{\"id\":$browser_number,"*) return 0 ;;
        esac
    done
    reply=
    return 1
}

# look EXPRESSION: prints what the expression is worth in the page, as JSON, or waits for what it promises.
look() {
    local reply
    browser_call Runtime.evaluate "$(jq -n --arg text "$1" '{expression: $text, returnByValue: true, awaitPromise: true, userGesture: true}')" || return 1
    jq -c 'if .result.exceptionDetails then .result.exceptionDetails.exception.description else .result.result.value end' <<<"$reply"
}

# holds EXPRESSION: succeeds if it is true in the page.
holds() {
    [ "$(look "$1")" = true ]
}

# visit FILE: loads a page and waits until its script has ended.
visit() {
    local reply
    browser_call Page.navigate "{\"url\": \"file://$(realpath "$1")\"}" || return 1
    look 'new Promise(done => { const wait = () => document.body?.dataset.ready ? done(true) : setTimeout(wait, 10); wait(); })' >/dev/null
}

# press KEY [CODE [TEXT]]: presses and releases a key, such as Tab 9 or Enter 13 $'\r'.
press() {
    local reply parameters
    parameters=$(jq -n --arg key "$1" --argjson code "${2:-0}" --arg text "${3:-}" '{key: $key, code: $key, windowsVirtualKeyCode: $code} + if $text == "" then {} else {text: $text} end')
    browser_call Input.dispatchKeyEvent "$(jq '. + {type: (if .text then "keyDown" else "rawKeyDown" end)}' <<<"$parameters")" &&
        browser_call Input.dispatchKeyEvent "$(jq 'del(.text) + {type: "keyUp"}' <<<"$parameters")"
}

# media MEDIUM SCHEME: shows the page as on this medium ("screen", "print") for somebody who prefers "light" or "dark".
media() {
    local reply
    browser_call Emulation.setEmulatedMedia "{\"media\": \"$1\", \"features\": [{\"name\": \"prefers-color-scheme\", \"value\": \"$2\"}]}"
}

# downloads FOLDER: files that the page hands out go there.
downloads() {
    local reply
    browser_call Browser.setDownloadBehavior "{\"behavior\": \"allow\", \"downloadPath\": \"$(realpath "$1")\"}"
}

# arrives FILE: waits until a file has been handed out.
arrives() {
    local i
    for ((i = 0; i < 1200; i++)); do
        if [ -s "$1" ] && [ ! -e "$1.crdownload" ]; then return 0; fi
        sleep 0.05
    done
    return 1
}

# shot FILE.png [true]: a picture of the window, or of the whole page.
shot() {
    local reply
    browser_call Page.captureScreenshot "{\"captureBeyondViewport\": ${2:-false}}" && jq -r .result.data <<<"$reply" | base64 -d >"$1"
}
