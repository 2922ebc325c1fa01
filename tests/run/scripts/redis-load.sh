# A Redis server with threads of its own, under a load, saving in a child meanwhile; then another that reads what was saved.
start() {
    redis-server --port 0 --unixsocket "$PWD/socket" --dir "$PWD" --appendonly yes --io-threads 2 --logfile log &
    until redis-cli -s socket ping 2>/dev/null | grep -q PONG; do sleep 0.05; done
}

stop() {
    redis-cli -s socket shutdown
    wait $!
    echo "ended with $?"
}

start
redis-benchmark -s socket -q -n 20000 -c 20 -P 8 -t set,get,incr,lpush,rpop,sadd,zadd,lrange_100,mset | tr '\r' '\n' |
    sed -n 's/: [0-9.]* requests per second.*//p' | sort
redis-cli -s socket flushall
seq 1 2000 | awk '{ printf "set key%d value%d\nincrby total %d\nlpush list %d\n", $1, $1 * 7, $1, $1 }' | redis-cli -s socket | sort | uniq -c | sort -n | tail -n 1
redis-cli -s socket bgrewriteaof
redis-cli -s socket eval 'local s = 0 for i = 1, 100000 do s = s + i % 7 end return s' 0
until redis-cli -s socket info persistence | grep -q aof_rewrite_in_progress:0; do sleep 0.05; done
stop
start
redis-cli -s socket mget key1 key2000 total
redis-cli -s socket llen list
redis-cli -s socket dbsize
stop
