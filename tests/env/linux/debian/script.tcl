# Procedures, files, events, binary strings and dictionaries.
proc fib n { expr {$n < 2 ? $n : [fib [expr {$n - 1}]] + [fib [expr {$n - 2}]]} }
puts [fib 15]
set file [open written w]
fconfigure $file -translation binary
puts -nonewline $file [binary format a4cs text 7 1000]
close $file
puts [file size written]
puts [lsort [glob folder/*.s*]]
after 5 {lappend events first}
after 10 {lappend events second; set done 1}
vwait done
puts $events
puts [dict get {a 1 b {c 2}} b c]
puts [clock format 0 -gmt 1]
puts [regsub -all {(\d+)} "a1b22" {<\1>}]
puts [expr {2 ** 100}]
puts [catch {open missing r} message]
puts $message
exit 6
