// work.js: compiled code, timers, a worker thread.
const { Worker, isMainThread, parentPort } = require('worker_threads');
function sum(n) {
    let s = 0;
    for (let i = 0; i < n; i++) s = (s + i * i) % 1000003;
    return s;
}
if (isMainThread) {
    console.log(sum(3000000), [3, 1, 2].sort().join(), JSON.stringify({ a: /b+/.exec('abbbc')[0] }));
    new Worker(__filename).on('message', (m) => {
        console.log('worker', m);
        setTimeout(() => console.log('later'), 10);
    });
} else {
    parentPort.postMessage(sum(1000000));
}
