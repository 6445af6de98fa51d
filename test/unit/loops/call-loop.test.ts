import { describe, expect, test } from 'vitest';
import {
  findCallLoop,
  judgeCalls,
  loopFeedback,
  type LoopCall,
} from '../../../shared/loops/call-loop.ts';

const call = (name: string, response?: string, args: Record<string, unknown> = {}): LoopCall => ({
  name,
  args,
  ...(response !== undefined && { response: { output: response } }),
});

/** One call a round, by the letters of a text; each answers with its own name, the last is not run yet. */
const rounds = (letters: string): LoopCall[][] =>
  Array.from(letters, (letter, i) => [call(letter, i < letters.length - 1 ? letter : undefined)]);

describe('a series of calls', () => {
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
  ])('%s is a loop where it stands five times at the end: %o', (letters, expected) => {
    expect(findCallLoop(rounds(letters))).toEqual(expected);
  });
});

describe('calls of one name', () => {
  test('are the same whatever the order of their arguments', () => {
    const ordered = [
      { a: 1, b: 2 },
      { b: 2, a: 1 },
    ];
    const same = [0, 1, 0, 1, 0].map((i) => [call('find', 'none', ordered[i])]);

    expect(findCallLoop(same)).toEqual({ length: 1, times: 5 });
  });

  test('with other arguments are others', () => {
    const pages = [1, 2, 3, 4, 5].map((page) => [call('list', 'a page', { page })]);

    expect(findCallLoop(pages)).toBeUndefined();
  });

  test.each([
    ['all the time', ['10 %', '20 %', '30 %', '40 %', '50 %']],
    ['once', ['waiting', 'waiting', 'waiting', 'ready', 'ready']],
    ['to and fro', ['on', 'off', 'on', 'off', 'on']],
  ])('whose responses change %s are no loop: who asks for a state gets on', (_, responses) => {
    const polling = [...responses.map((response) => [call('state', response)]), [call('state')]];

    expect(findCallLoop(polling)).toBeUndefined();
  });

  test('whose responses changed once are a loop when five more gave the same', () => {
    const responses = ['waiting', 'ready', 'ready', 'ready', 'ready'];
    const stuck = [...responses.map((response) => [call('state', response)]), [call('state')]];

    expect(findCallLoop(stuck)).toEqual({ length: 1, times: 5 });
  });
});

describe('calls of one round', () => {
  test('that are equal are one: none of them knew what the others gave', () => {
    const dice = Array.from({ length: 8 }, () => call('roll'));

    expect(findCallLoop([dice])).toBeUndefined();
  });

  test('are a series like those of several', () => {
    const round = [call('a', 'same'), call('b', 'same')];

    expect(findCallLoop([round, round, round, round, [call('a'), call('b')]])).toEqual({
      length: 2,
      times: 5,
    });
  });

  test('that are equal in each of five rounds are a loop', () => {
    const round = [call('roll', '6'), call('roll', '6')];

    expect(findCallLoop([round, round, round, round, round])).toEqual({ length: 1, times: 5 });
  });
});

describe('a loop', () => {
  const told = { ...call('a'), response: loopFeedback({ length: 1, times: 5 }) };

  test('is told to the model the first time', () => {
    expect(judgeCalls(rounds('aaaaa'))).toEqual({ kind: 'warn', length: 1, times: 5 });
  });

  test('ends the turn when the model goes on after that', () => {
    const goesOn = [...rounds('aaaaa').slice(0, 4), [told], [call('a')]];

    expect(judgeCalls(goesOn)).toEqual({ kind: 'stop', length: 1, times: 6 });
  });

  test('ends the turn when it is another one after that', () => {
    const other = [...rounds('aaaaa').slice(0, 4), [told], ...rounds('bbbbb')];

    expect(judgeCalls(other)).toEqual({ kind: 'stop', length: 1, times: 5 });
  });

  test('does not end the turn of a model that does something else', () => {
    const other = [...rounds('aaaaa').slice(0, 4), [told], [call('b')]];

    expect(judgeCalls(other)).toEqual({ kind: 'none' });
  });

  test.each([
    [1, 'This call was made 5 times'],
    [3, 'The same 3 calls were made 5 times'],
  ])('of %i calls says in its response what to do instead', (length, beginning) => {
    const { error } = loopFeedback({ length, times: 5 });

    expect(error).toMatch(new RegExp(`^${beginning}.*answer with what is known`, 'u'));
  });
});
