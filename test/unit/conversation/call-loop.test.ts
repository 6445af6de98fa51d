import { expect, test } from 'vitest';
import {
  findCallLoop,
  hasLooped,
  loopFeedback,
  type LoopCall,
} from '#shared/conversation/call-loop.ts';

const call = (name: string, response?: string, args: Record<string, unknown> = {}): LoopCall => ({
  name,
  args,
  ...(response !== undefined && { response: { output: response } }),
});

/** One call a round, by the letters of a text; each answers with its own name, the last is not run yet. */
const rounds = (letters: string): LoopCall[][] =>
  Array.from(letters, (letter, i) => [call(letter, i < letters.length - 1 ? letter : undefined)]);

test.each([
  ['aaaa', undefined],
  ['aaaaa', { length: 1, times: 5 }],
  ['aaaaaaa', { length: 1, times: 7 }],
  ['xaaaaa', { length: 1, times: 5 }],
  ['aaaaab', undefined],
  ['aabaa', undefined],
  ['ababababa', undefined],
  ['ababababab', { length: 2, times: 5 }],
  ['xyababababab', { length: 2, times: 5 }],
  ['abcabcabcabcabc', { length: 3, times: 5 }],
  ['abcabcabcabcab', undefined],
  ['abcdabcdabcdabcdabcd', { length: 4, times: 5 }],
  ['abcdeabcdeabcdeabcdeabcde', { length: 5, times: 5 }],
  ['abcdefabcdefabcdefabcdefabcdef', undefined],
  ['', undefined],
])('a series of calls: %s loops when it ends five times in a row: %o', (letters, expected) => {
  expect(findCallLoop(rounds(letters))).toEqual(expected);
});

test.each([
  ['all the time', ['10 %', '20 %', '30 %', '40 %', '50 %']],
  ['once', ['waiting', 'waiting', 'waiting', 'ready', 'ready']],
  ['to and fro', ['on', 'off', 'on', 'off', 'on']],
])('calls whose responses change %s are no loop: polling a state progresses', (_, responses) => {
  const polling = [...responses.map((response) => [call('state', response)]), [call('state')]];

  expect(findCallLoop(polling)).toBeUndefined();
});

const waiting = (letters: string) => Array.from(letters, (letter) => [call(letter, 'pending')]);

test.each<[string, string[], object | undefined]>([
  ['aaaaaaaa', ['a'], undefined],
  ['aaaaaaaa', ['b'], { length: 1, times: 8 }],
  ['abababababab', ['a'], undefined],
  ['abababababab', ['b'], undefined],
  ['abbbbb', ['a'], { length: 1, times: 5 }],
  ['bbbbba', ['a'], undefined],
  ['bbabbb', ['a'], undefined],
])('the loop check of a polled tool: %s, polled %j: %o', (letters, polled, expected) => {
  expect(findCallLoop(waiting(letters), new Set(polled))).toEqual(expected);
});

const told = { ...call('a'), response: loopFeedback({ length: 1, times: 5 }) };
const once = [...rounds('aaaaa').slice(0, 4), [told]];

test.each([
  ['the first time', once, false],
  ['the second time', [...once, [told]], true],
  ['of another kind the second time', [...once, ...rounds('bbbb'), [told]], true],
])('a call loop reported %s to the model ends the turn: %s', (_, all, expected) => {
  expect(hasLooped(all)).toBe(expected);
});
