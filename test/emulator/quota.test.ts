import { afterAll, beforeAll, describe } from 'vitest';
import { raceTests } from '../usecases/quota/race.suite.ts';
import { startEmulatorStack, type EmulatorStack } from '../support/processes/emulator-stack.ts';

let stack: EmulatorStack;
beforeAll(async () => {
  stack = await startEmulatorStack();
});
afterAll(() => stack.stop());

describe('one user, many messages at once, on the database', () => {
  raceTests(() => stack.chat.store);
});
