import { describe, expect, test } from 'vitest';
import type { ContextItemView } from '#shared/wire/resources/context.ts';
import { differsFromShown, outputTokensOf, promptSchema } from './tool-prompts.ts';

const said = (text: string, role: 'user' | 'model' = 'user') => ({ role, parts: [{ text }] });
const declaration = (name: string) => ({ name, description: 'x', parametersJsonSchema: {} });

const items: ContextItemView[] = [
  { kind: 'system', tokens: 1, content: 'Be kind.' },
  { kind: 'tools', tokens: 1, content: [declaration('look')] },
  { kind: 'turn', seq: 1, tokens: 1, content: said('One') },
  { kind: 'turn', seq: 1, tokens: 1, content: said('Two', 'model') },
];
const sent = {
  systemInstruction: { parts: [{ text: 'Be kind.' }] },
  tools: [{ functionDeclarations: [declaration('look')] }],
  contents: [said('One'), said('Two', 'model'), said('Three')],
};

describe('what is sent and what was shown', () => {
  test('are the same but for the message', () => {
    expect(differsFromShown(promptSchema.parse(sent), { items })).toBeUndefined();
  });

  test.each([
    { name: 'a content less', other: { contents: sent.contents.slice(1) } },
    { name: 'another text', other: { contents: sent.contents.with(1, said('2', 'model')) } },
    { name: 'no instruction', other: { systemInstruction: undefined } },
    { name: 'no tools', other: { tools: undefined } },
    {
      name: 'another tool',
      other: { tools: [{ functionDeclarations: [declaration('ask')] }] },
    },
  ])('differ by $name', ({ other }) => {
    const prompt = promptSchema.parse({ ...sent, ...other });

    expect(differsFromShown(prompt, { items })).toEqual(expect.any(String));
  });
});

test('the outputs of a prompt are weighed, and nothing else of it', () => {
  const output = (text: string) => ({
    role: 'user' as const,
    parts: [{ functionResponse: { name: 'look', response: { output: text } } }],
  });

  const one = outputTokensOf({ contents: [said('x'.repeat(4_000)), output('word '.repeat(100))] });
  const two = outputTokensOf({ contents: [output('word '.repeat(100)), output('')] });

  expect(one).toBeGreaterThan(50);
  expect(one).toBeLessThan(500);
  expect(two).toBeGreaterThan(one);
});
