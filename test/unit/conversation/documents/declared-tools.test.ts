import { expect, test } from 'vitest';
import type { Content } from '#shared/conversation/documents/content.ts';
import { declaredTools } from '#shared/conversation/documents/declared-tools.ts';

const serverTools = ['weather', 'recall_history', 'read_blob'].map((name) => ({ name }));
const toolsJson = JSON.stringify([
  { name: 'locate', parameters: { type: 'object' } },
  { name: 'weather', parameters: { type: 'object' } },
]);
const shortened: Content = {
  role: 'user',
  parts: [
    { functionResponse: { name: 'list', response: { output: 'read_blob("ab") returns it.' } } },
  ],
};
const said: Content = { role: 'user', parts: [{ text: 'What is read_blob("ab")?' }] };

test.each([
  { what: 'of the server and the app', declares: ['weather', 'locate'] },
  {
    what: 'that look up, once something is folded',
    seq: 4,
    declares: ['weather', 'recall_history', 'locate'],
  },
  {
    what: 'that read, where an output names a blob',
    contents: [shortened],
    declares: ['weather', 'read_blob', 'locate'],
  },
  {
    what: 'that read only where a tool says so',
    contents: [said],
    declares: ['weather', 'locate'],
  },
])('the model gets declared tools $what', ({ seq = 0, contents = [], declares }) => {
  const declared = declaredTools({ serverTools, toolsJson, coveredThrough: { seq }, contents });

  expect(declared?.map(({ name }) => name)).toEqual(declares);
});
