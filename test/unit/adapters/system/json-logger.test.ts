import { AsyncLocalStorage } from 'node:async_hooks';
import { EventEmitter } from 'node:events';
import { setImmediate as endOfTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { writeTogether } from '#functions/adapters/json-logger.ts';

function open(write: (text: string) => unknown) {
  const process = new EventEmitter();
  return { process, log: writeTogether(write, process) };
}

test('the JSON logger writes the lines of one event-loop turn together, in order', async () => {
  const written: string[] = [];
  const { log } = open((text) => written.push(text));

  log('one\n');
  log('two\n');
  await endOfTurn();
  log('three\n');
  await endOfTurn();

  expect(written).toEqual(['one\ntwo\n', 'three\n']);
});

test('the JSON logger writes waiting lines once when the process ends', async () => {
  const written: string[] = [];
  const { log, process } = open((text) => written.push(text));

  log('last words\n');
  process.emit('exit', 0);
  await endOfTurn();

  expect(written).toEqual(['last words\n']);
});

test('the JSON logger writes outside the request that logged', async () => {
  const request = new AsyncLocalStorage<string>();
  const writtenIn: unknown[] = [];
  const { log, process } = open(() => writtenIn.push(request.getStore()));

  request.run('a request', () => log('one\n'));
  await endOfTurn();
  request.run('a request', () => {
    log('last words\n');
    process.emit('exit', 0);
  });

  expect(writtenIn).toEqual([undefined, undefined]);
});
