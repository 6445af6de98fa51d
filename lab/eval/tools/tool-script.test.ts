import { describe, expect, test } from 'vitest';
import type { Content, Part } from '#shared/conversation/documents/content.ts';
import { FILLED, mostRounds, toolScriptOf } from './tool-script.ts';

const user = (...parts: Part[]): Content => ({ role: 'user', parts });
const model = (...parts: Part[]): Content => ({ role: 'model', parts });
const call = (name: string, id?: string): Part => ({
  functionCall: { ...(id !== undefined && { id }), name, args: { of: name } },
});
const gave = (name: string, output: string, id?: string): Part => ({
  functionResponse: { ...(id !== undefined && { id }), name, response: { output } },
});
const scriptOf = (...turns: Content[]) => toolScriptOf({ id: 'x', turns }, 1_000);

describe('the script of a recording with tools', () => {
  test('has a turn for each message, and an answer for each call of the model', () => {
    const { turns } = scriptOf(
      user({ text: 'One?' }),
      model({ text: 'I look.' }, call('look')),
      user(gave('look', 'seen')),
      model({ text: 'Seen.' }),
      user({ text: 'Two?' }),
      model({ text: 'Yes.' }),
    );

    expect(turns).toMatchObject([
      {
        userTexts: ['One?'],
        answers: [
          { parts: [{ text: 'I look.' }, { functionCall: { name: 'look' } }] },
          { parts: [{ text: 'Seen.' }] },
        ],
        calls: [{ name: 'look', args: { of: 'look' }, response: { output: 'seen' } }],
        isStopped: false,
        isFilled: false,
      },
      { userTexts: ['Two?'], answers: [{ parts: [{ text: 'Yes.' }] }], calls: [] },
    ]);
  });

  test('gives responses to their calls, by id where there is one and else in order', () => {
    const { turns, parallel } = scriptOf(
      user({ text: 'All?' }),
      model(call('look', 'a'), call('look', 'b'), call('ask'), call('ask')),
      user(gave('look', 'B', 'b'), gave('ask', '1'), gave('look', 'A', 'a'), gave('ask', '2')),
      model({ text: 'Done.' }),
    );

    expect(turns[0]?.calls.map(({ response }) => response?.['output'])).toEqual([
      'A',
      'B',
      '1',
      '2',
    ]);
    expect(parallel).toBe(1);
  });

  test.each([
    { name: 'at another message', after: [user({ text: 'Stop.' }), model({ text: 'Yes.' })] },
    { name: 'at the end', after: [] },
  ])('stops a turn whose call has no response $name', ({ after }) => {
    const { turns } = scriptOf(user({ text: 'Go.' }), model(call('look')), ...after);

    expect(turns[0]).toMatchObject({ isStopped: true, isFilled: false });
    expect(turns[0]?.calls[0]).not.toHaveProperty('response');
  });

  test.each([
    { name: 'a message', answer: [] },
    { name: 'a response', answer: [model(call('look')), user(gave('look', 'seen'))] },
  ])('ends with words that say that nothing was recorded behind $name', ({ answer }) => {
    const { turns } = scriptOf(user({ text: 'Go.' }), ...answer);

    expect(turns[0]?.answers.at(-1)?.parts).toEqual([{ text: FILLED }]);
    expect(turns[0]).toMatchObject({ isStopped: false, isFilled: true });
  });

  test('begins a turn with a message that stands beside a response', () => {
    const { turns } = scriptOf(
      user({ text: 'Go.' }),
      model(call('look')),
      user(gave('look', 'seen'), { text: 'And on.' }),
      model({ text: 'On.' }),
    );

    expect(turns.map(({ userTexts, isFilled }) => ({ userTexts, isFilled }))).toEqual([
      { userTexts: ['Go.'], isFilled: true },
      { userTexts: ['And on.'], isFilled: false },
    ]);
    expect(turns[0]?.calls[0]?.response).toEqual({ output: 'seen' });
  });

  test('counts what it leaves out', () => {
    const { turns, leftOut } = scriptOf(
      model({ text: 'Welcome.' }),
      user({ text: 'Go.' }, { inlineData: { mimeType: 'image/png', data: 'AAAA' } }),
      user(gave('look', 'never asked')),
      model({ text: 'hidden', thought: true }, { text: 'Gone.' }),
    );

    expect(leftOut).toEqual({ otherParts: 2, openingContents: 1, orphanResponses: 1 });
    expect(turns[0]?.answers).toEqual([{ role: 'model', parts: [{ text: 'Gone.' }] }]);
  });

  test('knows the turn with most rounds', () => {
    const round = [model(call('look')), user(gave('look', 'seen'))];

    expect(
      mostRounds(scriptOf(user({ text: 'A' }), ...round, ...round, user({ text: 'B' }), ...round)),
    ).toBe(2);
  });
});
