import { expect, test } from 'vitest';
import type { Part } from '#shared/conversation/documents/content.ts';
import { readLoops } from './eval-loops-score.ts';

const user = (...parts: Part[]) => ({ role: 'user' as const, parts });
const model = (...parts: Part[]) => ({ role: 'model' as const, parts });
const asked = (state: string) => [
  model({ functionCall: { id: '1', name: 'state', args: {} } }),
  user({ functionResponse: { id: '1', name: 'state', response: { state } } }),
];

test('a recording that polls raises the alarm of the blind rule alone', () => {
  const states = ['waiting', 'waiting', 'ready', 'ready', 'ready'];
  const turns = [user({ text: 'Is it ready?' }), ...states.flatMap(asked)];

  expect(readLoops({ turns })).toMatchObject({ calls: 5, callAlarms: 0, blindAlarms: 1 });
});

test('a recording that gets nowhere and chants raises both alarms', () => {
  const turns = [
    user({ text: 'Is it ready?' }),
    ...Array.from({ length: 5 }, () => asked('waiting')).flat(),
    model({ text: 'I am sorry, it is not ready yet. '.repeat(40) }),
  ];

  expect(readLoops({ turns })).toMatchObject({ callAlarms: 1, chantAlarms: 1 });
});

test('the calls of another turn begin anew', () => {
  const turns = Array.from({ length: 6 }, () => [user({ text: 'And now?' }), ...asked('open')]);

  expect(readLoops({ turns: turns.flat() })).toMatchObject({ calls: 6, callAlarms: 0 });
});

test('planted loops are counted, and found', () => {
  const text = 'The parcel has left the depot this morning and arrives tomorrow before noon.';
  const turns = [
    user({ text: 'Where is it?' }),
    ...asked('sent'),
    ...asked('sent'),
    model({ text }),
  ];
  const { plantedCalls, plantedRepetitions } = readLoops({ turns });

  expect(plantedCalls).toEqual({ planted: 2, found: 2 });
  expect(plantedRepetitions).toEqual({ planted: 3, found: 3 });
});
