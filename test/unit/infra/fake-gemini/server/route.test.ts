import { expect, test } from 'vitest';
import { route } from '#infra/fake-gemini/server/route.ts';
import { classifierRequest, routeIn } from '#shared/routing/classifier-prompt.ts';

const judged = (text: string) => {
  const message = { role: 'user' as const, parts: [{ text }] };
  const { contents } = classifierRequest('cheap', { dialogue: [], message });
  return { contents: [...contents] };
};

test.each([
  ['a short message', 'Hello there', 'fast'],
  ['one that is to be planned', 'Plan a trip.', 'strong'],
  ['one that asks why', 'So why?', 'strong'],
  ['a word that only begins so', 'A planet.', 'fast'],
  ['a long message', 'word '.repeat(100), 'strong'],
])('the fake Gemini routes %s', (...[, text, choice]) => {
  expect(routeIn(route(judged(text), {}))).toBe(choice);
});

test('the fake Gemini breaks its JSON on request', () => {
  expect(routeIn(route(judged('Hello'), { malformed: true }))).toBeUndefined();
});
