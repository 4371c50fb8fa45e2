// What ioredis users do, against the port in argv[2]. Prints what it did; any surprise is thrown.
'use strict';
const assert = require('node:assert');
const Redis = require('ioredis');

const port = Number(process.argv[2]);
const connect = (options) => new Redis({ host: '127.0.0.1', port, maxRetriesPerRequest: 1, ...options });

async function readyCheck() {
  const redis = connect({ enableReadyCheck: true, connectionName: 'tester', db: 0 });
  await new Promise((resolve, reject) => redis.once('ready', resolve).once('error', reject));
  assert.strictEqual(redis.status, 'ready');
  assert.strictEqual(await redis.ping(), 'PONG');
  assert.strictEqual(await redis.client('GETNAME'), 'tester');
  assert.match(await redis.info('server'), /laud_version:/);
  return redis;
}

async function commands(redis) {
  assert.strictEqual(await redis.call('LIKE', '1', 'video:1'), 1);
  assert.strictEqual(await redis.call('LIKE', '1', 'video:1'), 0);
  assert.strictEqual(await redis.sendCommand(new Redis.Command('REACT', ['1', 'favorite', 'video:1'])), 1);
  assert.deepStrictEqual(await redis.call('LIKED', '1', 'video:1', 'video:2'), [1, 0]);
  assert.deepStrictEqual(await redis.call('REACTED', '1', 'favorite', 'video:1'), [1]);
  assert.strictEqual(await redis.call('ADD', 'video:1', 'view', '5', 'TOKEN', 'a'), 5);
  assert.strictEqual(await redis.call('ADD', 'video:1', 'view', '5', 'TOKEN', 'a'), 5);
  assert.deepStrictEqual(await redis.call('COUNTS', 'video:1'),
    [['like', 1, 'favorite', 1, 'view', 5]]);
  assert.deepStrictEqual(await redis.call('FEED', '1', 'video:1', 'video:9'),
    [[['like', 'favorite'], ['like', 1, 'favorite', 1, 'view', 5]], [[], []]]);
  assert.strictEqual(await redis.call('UNREACT', '1', 'favorite', 'video:1'), 1);
  assert.strictEqual(await redis.call('UNLIKE', '1', 'video:1'), 1);
  await assert.rejects(redis.call('LIKE', 'nobody', 'video:1'),
    (error) => error.name === 'ReplyError' && /a user must be/.test(error.message));
}

async function pipelines(redis) {
  const pipeline = redis.pipeline();
  for (let i = 0; i < 5000; i++) pipeline.call('LIKE', String(i), 'post:1');
  pipeline.call('LIKE', 'x', 'post:1');
  pipeline.call('COUNTS', 'post:1');
  const replies = await pipeline.exec();
  assert.strictEqual(replies.length, 5002);
  for (let i = 0; i < 5000; i++) assert.deepStrictEqual(replies[i], [null, 1]);
  assert.match(replies[5000][0].message, /^ERR a user must be/);
  assert.deepStrictEqual(replies[5001], [null, [['like', 5000]]]);
}

async function transactions(redis) {
  const transaction = redis.multi();
  for (let i = 0; i < 5000; i++) transaction.call('LIKE', String(i), 'post:3');
  transaction.call('LIKE', 'x', 'post:3');
  transaction.call('COUNTS', 'post:3');
  const replies = await transaction.exec();
  for (let i = 0; i < 5000; i++) assert.deepStrictEqual(replies[i], [null, 1]);
  assert.match(replies[5000][0].message, /^ERR a user must be/);
  assert.deepStrictEqual(replies[5001], [null, [['like', 5000]]]);
  await assert.rejects(redis.multi().call('LIKE', '1', 'post:4').call('NOPE').exec(), /EXECABORT/);
  assert.deepStrictEqual(await redis.call('COUNTS', 'post:4'), [[]]);
  await redis.multi({ pipeline: false });
  assert.strictEqual(await redis.call('LIKE', '1', 'post:5'), 'QUEUED');
  assert.deepStrictEqual(await redis.exec(), [[null, 1]]);
}

async function autoPipelining() {
  const redis = connect({ enableAutoPipelining: true });
  const likes = [];
  for (let i = 0; i < 2000; i++) likes.push(redis.call('LIKE', String(i), 'post:2'));
  assert.deepStrictEqual(await Promise.all(likes), Array(2000).fill(1));
  assert.deepStrictEqual(await redis.call('COUNTS', 'post:2'), [['like', 2000]]);
  assert.strictEqual(await redis.quit(), 'OK');
}

async function main() {
  const redis = await readyCheck();
  await commands(redis);
  await pipelines(redis);
  await transactions(redis);
  await autoPipelining();
  assert.strictEqual(await redis.quit(), 'OK');
  console.log(`ioredis ${require('ioredis/package.json').version}`);
}

main().catch((error) => { console.error(error); process.exit(1); });
