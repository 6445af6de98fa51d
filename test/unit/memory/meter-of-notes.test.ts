import { wholeOutputs } from '#shared/compaction/sent-outputs.ts';
import { contextTokens } from '#shared/conversation/context/meter.ts';
import { memoryTokens } from '#shared/memory/render-memory.ts';
import { expect, test } from 'vitest';

const memory = { app: '', user: 'bee '.repeat(100) };
const context = {
  tokens: 1_000,
  overheadTokens: 0,
  calibration: 1,
  source: 'reported' as const,
  generation: 0,
  seq: 1,
};
const source = {
  conversation: { context, generation: 0, pins: [] },
  history: undefined,
  turns: [],
};

const forms = wholeOutputs({ counting: { rule: 'character-class' } });

test('the meter counts notes added since the report and no removed ones', () => {
  const own = memoryTokens(memory);
  const sent = { ...context, pinTokens: own + 20, memoryTokens: own };
  const conversation = { ...source.conversation, context: sent };

  const came = contextTokens({ ...source, memory }, forms).tokens;
  const went = contextTokens(
    { ...source, conversation, memory: { app: '', user: '' } },
    forms,
  ).tokens;
  const unknown = contextTokens({ ...source, conversation }, forms).tokens;

  expect(came).toBeGreaterThan(1_000 + own);
  expect(went).toBe(1_000 - own - 20);
  expect(unknown).toBeGreaterThan(1_000 - 20);
});
