import { describe, expect, test } from 'vitest';
import { readLedgerAnswer } from '#shared/compaction/ledger/prompt/ledger-answer.ts';
import type { ModelRequest, ModelResponse } from '#shared/ports/ports.ts';
import { workedExamples } from './eval-examples.ts';
import { readTrial, triedModel } from './eval-trial.ts';

const answerOf = (...texts: string[]): ModelResponse => ({
  parts: [
    {
      text: JSON.stringify({
        scratchpad: '',
        operations: texts.map((text) => ({
          op: 'add',
          section: 'key_knowledge',
          text,
          sources: [1],
        })),
      }),
    },
  ],
  finishReason: 'STOP',
  usage: { promptTokens: 100, cachedTokens: 0, outputTokens: 10, thoughtsTokens: 0 },
});

const request: ModelRequest = {
  model: 'm',
  systemInstruction: 'Keep a ledger.',
  contents: [{ role: 'user', parts: [{ text: 'history' }] }],
  responseJsonSchema: {},
  role: 'utility_compressor',
  promptId: 'run',
};

function bench(name: string, options: { answers: ModelResponse[]; questions?: string[][] }) {
  const asked: ModelRequest[] = [];
  const questions = [...(options.questions ?? [])];
  const tried = triedModel(readTrial(name), {
    model: {
      generate: (wanted) => {
        asked.push(wanted);
        return Promise.resolve(options.answers[asked.length - 1] ?? answerOf());
      },
      countTokens: () => Promise.resolve(1),
    },
    beforeCall: () => undefined,
    questionsFor: () => Promise.resolve(questions.shift() ?? []),
  });
  const ask = async (change: Partial<ModelRequest> = {}) => {
    const { parts, usage } = await tried.model.generate(
      { ...request, ...change },
      new AbortController().signal,
    );
    const read = readLedgerAnswer(parts[0]?.text ?? '');
    return {
      usage,
      texts: read.ok ? read.operations.map((each) => 'text' in each && each.text) : [],
    };
  };
  return { asked, tried, ask };
}

describe('rounds of questions', () => {
  test('none: the repair call is not made', async () => {
    const { ask, tried } = bench('rounds=0', { answers: [answerOf('A')] });

    await ask();
    const repair = await ask({ promptId: 'run-repair' });

    expect(repair.texts).toEqual([]);
    expect(tried.calls()).toBe(1);
  });

  test('two: each is told the answer so far, and all operations and tokens come back as one', async () => {
    const { ask, asked, tried } = bench('rounds=2', {
      answers: [answerOf('A'), answerOf('B'), answerOf('C')],
      questions: [['what of b?'], ['what of c?']],
    });

    const { texts, usage } = await ask();

    expect(texts).toEqual(['A', 'B', 'C']);
    expect(usage).toMatchObject({ promptTokens: 300, outputTokens: 30 });
    expect(tried.calls()).toBe(3);
    expect(JSON.stringify(asked[2]?.contents.slice(-2))).toMatch(/B.*what of c\?/);
  });

  test('end where code has no question', async () => {
    const { ask, tried } = bench('rounds=2', { answers: [answerOf('A')] });

    await ask();

    expect(tried.calls()).toBe(1);
  });

  test('leave what stands where an answer to them cannot be read', async () => {
    const { ask } = bench('rounds=1', {
      answers: [answerOf('A'), { parts: [{ text: 'no idea' }], finishReason: 'STOP' }],
      questions: [['what of b?']],
    });

    expect((await ask()).texts).toEqual(['A']);
  });
});

describe('examples', () => {
  test('stand behind the instruction of the ledger, and of nothing else', async () => {
    const { ask, asked } = bench('examples', { answers: [answerOf(), answerOf()] });

    await ask();
    await ask({ responseJsonSchema: undefined });

    expect(asked.map(({ systemInstruction }) => systemInstruction?.includes('EXAMPLES'))).toEqual([
      true,
      false,
    ]);
  });

  test('are answers that the service can read, with quotes that their dialogues hold', () => {
    const answers = [...workedExamples.matchAll(/^Answer: (.*)$/gm)].map(([, text = '']) => text);
    const quotes = answers.flatMap((text) => {
      const read = readLedgerAnswer(text);
      expect(read).toMatchObject({ ok: true, skipped: 0 });
      return read.ok ? read.operations.map(({ quote = '' }) => quote) : [];
    });
    const dialogues = workedExamples.replaceAll(/^Answer: .*$/gm, '');

    expect(answers).toHaveLength(2);
    for (const quote of quotes) expect(dialogues).toContain(quote);
  });
});

test.each(['rounds=3', 'rounds', 'stages', ''])('%j cannot be tried', (text) => {
  expect(() => readTrial(text)).toThrow('--try takes');
});
