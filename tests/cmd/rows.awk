# Tables of an experiment with so many rows, three axes and two columns, one with references, as results.json: awk -v rows=N -f rows.awk.
BEGIN {
    printf "{\"format\": \"croft experiment 1\", \"title\": \"rows </script><b>&amp;\", \"machine\": \"functional\", "
    printf "\"tables\": [{\"column\": \"value\", \"across\": \"size\"}], \"rows\": ["
    for (i = 0; i < rows; i++) {
        printf "%s{\"at\": {\"program\": \"p%d\", \"size\": \"%dKiB\", \"n\": \"%d\"}, \"failed\": false, ", i ? "," : "", i % 5, 2 ^ (i % 7), i
        printf "\"values\": {\"cycles\": %d, \"value\": %.4f}, \"references\": %s}", (i * 7919) % 100003, i % 97 / 7,
            i % 50 ? "{}" : "{\"value\": {\"value\": 3, \"source\": \"x\"}}"
    }
    print "]}"
}
