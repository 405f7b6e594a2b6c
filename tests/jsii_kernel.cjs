// jsii's kernel in one process: node --preserve-symlinks jsii_kernel.cjs PATH-OF-JSII-RUNTIME. jsii starts a second process
// that passes every message on, at a quarter of what a synthesis takes; here the kernel speaks at stdin and stdout itself,
// which it does at descriptor 3, and what constructs print goes to stderr as that process would have sent it.
'use strict';
const fs = require('node:fs');
const path = require('node:path');

const { readSync, writeSync } = fs;
fs.readSync = (fd, ...rest) => readSync(fd === 3 ? 0 : fd, ...rest);
fs.writeSync = (fd, ...rest) => writeSync(fd === 3 ? 1 : fd, ...rest);
for (const name of ['stdout', 'stderr']) {
  process[name].write = (said, encoding, done) => {
    const bytes = Buffer.from(said, typeof encoding === 'string' ? encoding : 'utf8');
    writeSync(2, `${JSON.stringify({ [name]: bytes.toString('base64') })}\n`);
    const told = typeof encoding === 'function' ? encoding : done;
    if (told) process.nextTick(told);
    return true;
  };
}
require(path.resolve(path.dirname(process.argv[2]), '..', 'lib', 'program.js'));
