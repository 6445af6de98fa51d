import {
  type Rounds,
  type Turn,
  modelThatAnswered,
  turnModel,
} from '#shared/conversation/documents/turn.ts';
import { expect, test } from 'vitest';

const rounds: Rounds = { count: 1, step: 1, frames: [], app: [], usages: [] };

test.each<[string, Pick<Turn, 'state' | 'model' | 'rounds'> | undefined, string]>([
  ['that begins is the conversation’s', undefined, 'new'],
  ['that has waited in the queue is the conversation’s', { state: 'queued' }, 'new'],
  ['that is answered stays', { state: 'running', model: 'old' }, 'old'],
  ['that is answered stays unchosen', { state: 'running', model: 'auto' }, 'auto'],
  ['that waits for the app stays', { state: 'awaiting_tool', model: 'old', rounds }, 'old'],
  ['that failed behind its tools stays', { state: 'failed', model: 'old', rounds }, 'old'],
  ['that failed before any tool ran begins anew', { state: 'failed', model: 'old' }, 'new'],
  ['that nobody noted is the conversation’s', { state: 'awaiting_tool', rounds }, 'new'],
])('the model of a turn: %s', (_, turn, expected) => {
  expect(turnModel('new', turn)).toBe(expected);
});

const routing = { choice: 'fast', why: 'rule', model: 'chosen' } as const;

test.each<[string, Pick<Turn, 'model' | 'routing'>, string | undefined]>([
  ['is the one of the turn', { model: 'fixed' }, 'fixed'],
  ['is the chosen one', { model: 'auto', routing }, 'chosen'],
  ['is nobody before the choice', { model: 'auto' }, undefined],
  ['is unknown where it was not noted', {}, undefined],
])('the model that has answered: %s', (_, turn, expected) => {
  expect(modelThatAnswered(turn)).toBe(expected);
});
