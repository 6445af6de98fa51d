import { expect, test } from 'vitest';
import { uiToolOutputs } from '#shared/wire/facades/ai-sdk.ts';

const part = { type: 'dynamic-tool', toolCallId: 't_1_c0', state: 'output-available', output: 1 };

test.each<[string, unknown, object[]]>([
  ['an output', [part], [{ callId: 't_1_c0', output: 1 }]],
  ['that of a typed tool', [{ ...part, type: 'tool-locate' }], [{ callId: 't_1_c0', output: 1 }]],
  [
    'nothing as an output',
    [{ ...part, output: undefined }],
    [{ callId: 't_1_c0', output: undefined }],
  ],
  [
    'an error',
    [{ ...part, state: 'output-error', errorText: 'No.' }],
    [{ callId: 't_1_c0', error: 'No.' }],
  ],
  ['the last of two', [part, { ...part, output: 2 }], [{ callId: 't_1_c0', output: 2 }]],
  ['no call that is open', [{ ...part, state: 'input-available' }], []],
  ['no call of the server', [{ ...part, providerExecuted: true }], []],
  ['nothing preliminary', [{ ...part, preliminary: true }], []],
  ['no other part', [{ type: 'text', text: 'x' }, { ...part, type: 'toolbox' }, null, 7], []],
  ['nothing of what is no list', 'parts', []],
])('the tool outputs of a UI message are read: %s', (_, parts, outputs) => {
  expect(uiToolOutputs(parts)).toEqual(outputs);
});
