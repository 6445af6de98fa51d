import { type Supply } from './calls.ts';
import { describeValue, jsonText } from './hostile-json.ts';

/** A part of an answer that is anything but one. */
export const wildPart = (index: number, value: unknown): unknown =>
  [
    value,
    { text: value },
    { text: 'a', thought: value, thoughtSignature: value },
    { text: 'b', [describeValue(value).slice(0, 50)]: value },
    { functionCall: value },
    { functionCall: { name: value } },
    { functionCall: { name: 'fetch', id: value, args: {} } },
    { functionResponse: { name: 'fetch', response: value } },
    { inlineData: { mimeType: value, data: value } },
    { fileData: { fileUri: value }, condensed: value, upload: value },
  ][index % 10];

export const callsOf = (names: readonly string[], { take }: Supply, count: number) =>
  Array.from({ length: count }, (_, index) => ({
    functionCall: { name: names[index % names.length], args: take() },
  }));

export const usageOf = ({ take }: Supply) => ({
  promptTokenCount: take(),
  candidatesTokenCount: take(),
  thoughtsTokenCount: take(),
  cachedContentTokenCount: take(),
});

export const answer = (parts: readonly unknown[], rest: object = {}) => ({
  candidates: [{ content: { parts }, finishReason: 'STOP' }],
  ...rest,
});

export const TOOLS = [
  'fetch',
  'fetch',
  'recall_history',
  'read_blob',
  'save_memory',
  'forget_memory',
];

/** As a summariser should answer. */
export const SUMMARY = answer([
  {
    text: JSON.stringify({
      scratchpad: '',
      operations: [
        { op: 'add', section: 'key_knowledge', text: 'The boat is called Aurora.', sources: [1] },
      ],
    }),
  },
]);

/** What a summariser answers: anything, or operations with anything in them. */
export function summary({ take }: Supply): unknown {
  const operations = Array.from({ length: 4 }, () => ({
    op: take(),
    section: 'key_knowledge',
    text: take(),
    sources: [1, take()],
  }));
  const text = jsonText({ scratchpad: take(), operations });
  return { ...answer([{ text }]), usageMetadata: usageOf({ take, taken: 0 }) };
}
