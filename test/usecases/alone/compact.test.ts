import fc from 'fast-check';
import { MockLanguageModelV4 } from 'ai/test';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  chooseSplit,
  compact,
  compactionSnapshotSchema,
  estimateTokens,
  fromAiSdk,
  fromGemini,
  matchesHistory,
  renderSnapshot,
  shortenToolOutputs,
  verifySummary,
  type CompactInput,
  type CompactResult,
  type Content,
  type VerifiedSummary,
  type SummaryFunction,
  type SummaryPrompt,
} from '#functions/recap-compaction.ts';
import { startFakeGemini } from '#infra/fake-gemini/server/start-fake-gemini.ts';
import { overloaded } from '#test/support/model-down.ts';
import { lockerCode, lockerTurn, notingFacts } from '#test/support/compaction/fact-summariser.ts';

/** A summariser that keeps what it was asked. */
function listening(answer: SummaryFunction = notingFacts) {
  const prompts: SummaryPrompt[] = [];
  const model: SummaryFunction = (prompt) => {
    prompts.push(prompt);
    return answer(prompt);
  };
  return { model, prompts };
}

/* `recap/compaction`: compaction of a history that somebody else keeps. */

const user = (text: string): Content => ({ role: 'user', parts: [{ text }] });
const model = (text: string): Content => ({ role: 'model', parts: [{ text }] });

const turn = (number: number): Content[] => {
  const { user: asked, answer } = lockerTurn(number);
  return [user(asked), model(answer)];
};
const turns = (from: number, through: number): Content[] =>
  Array.from({ length: through - from + 1 }, (_, index) => turn(from + index)).flat();

/** Of the size of twenty turns. */
const policy = { thresholdTokens: 4_000 };

const input = (changes: Partial<CompactInput> = {}): CompactInput => ({
  contents: turns(1, 30),
  policy,
  model: notingFacts,
  ...changes,
});

/** What a history that was stored and read again is: other objects, keys in another order. */
function stored<T>(value: T): T {
  const turned = (each: unknown): unknown => {
    if (Array.isArray(each)) return each.map(turned);
    if (typeof each !== 'object' || each === null) return each;
    return Object.fromEntries(
      Object.entries(each)
        .toReversed()
        .map(([key, inner]) => [key, turned(inner)]),
    );
  };
  return JSON.parse(JSON.stringify(turned(value)));
}

const compacted = async (changes: Partial<CompactInput> = {}) => {
  const result = await compact(input(changes));
  if (result.snapshot === undefined) throw new Error(JSON.stringify(result.report));
  return { ...result, snapshot: result.snapshot };
};

describe('a compaction of a history that is kept elsewhere', () => {
  test('below the threshold nothing is asked, and the history comes back as it is', async () => {
    const { model: asked, prompts } = listening();
    const given = input({ contents: turns(1, 3), model: asked });

    const result = await compact(given);

    expect(prompts).toEqual([]);
    expect(result.contents).toBe(given.contents);
    expect(result).toMatchObject({
      snapshot: undefined,
      report: { state: 'NOOP', reason: 'BELOW_THRESHOLD', turnsFolded: 0 },
      usage: { calls: 0, promptTokens: 0, outputTokens: 0 },
    });
  });

  test('over it the snapshot stands for the older turns, and the others stay word for word', async () => {
    const contents = turns(1, 30);

    const { snapshot, contents: sent, report, usage } = await compacted({ contents });

    const [memory, acknowledgement, ...tail] = sent;
    expect(memory).toEqual(user(snapshot.text));
    expect(snapshot.text).toContain(`locker 1: ${lockerCode(1)}`);
    expect(acknowledgement?.role).toBe('model');
    expect(tail.length).toBeGreaterThanOrEqual(2);
    tail.forEach((content, index) =>
      expect(content).toBe(contents[contents.length - tail.length + index]),
    );
    expect(snapshot).toMatchObject({
      nextTurn: 31 - tail.length / 2,
      contents: contents.length - tail.length,
    });
    expect(report).toMatchObject({
      state: 'COMPACTED',
      strategy: 'ledger',
      turnsFolded: 30 - tail.length / 2,
      check: { statements: 4, markedCount: 0 },
    });
    expect(report.afterTokens).toBeLessThan(report.beforeTokens / 2);
    expect(usage).toEqual({ calls: 1, promptTokens: 100, outputTokens: 10 });
  });

  test('the next one goes on from the snapshot, however the history was kept', async () => {
    const first = await compacted();
    const later = turns(31, 60);
    const returned = listening();
    const whole = listening();

    const results = await Promise.all([
      compacted({
        contents: [...first.contents, ...later],
        snapshot: stored(first.snapshot),
        model: returned.model,
      }),
      compacted({
        contents: stored([...turns(1, 30), ...later]),
        snapshot: first.snapshot,
        model: whole.model,
      }),
    ]);

    const [asked] = returned.prompts.map(({ contents }) => JSON.stringify(contents));
    expect(asked).toContain('[31] user: Turn 31');
    expect(asked).not.toContain('[1] user');
    expect(asked).not.toContain('state_snapshot');
    expect(asked).toContain(`locker 1: ${lockerCode(1)}`);
    expect(results[0].contents.slice(2)).toEqual(results[1].contents.slice(2));
    const { text: _, ...place } = results[1].snapshot;
    expect(results[0].snapshot).toMatchObject(place);
    for (const { snapshot } of results)
      for (const number of [1, 11, 21, 31])
        expect(snapshot.text).toContain(`locker ${number}: ${lockerCode(number)}`);
  });

  test('a history that is not the one of the snapshot is refused', async () => {
    const { snapshot, contents: sent } = await compacted();
    const [memory, ...others] = sent;
    const joined = [user(snapshot.text), user('Hello.')].flatMap(({ parts }) => parts);

    for (const contents of [
      turns(2, 30),
      [user('Another.'), ...turns(1, 30)],
      turns(1, 2),
      sent.slice(2),
      // Something stands beside the snapshot that would be taken for it.
      [{ ...memory, role: 'user' as const, parts: joined }, ...others],
    ]) {
      expect(matchesHistory({ contents, snapshot })).toBe(false);
      await expect(compact(input({ contents, snapshot }))).rejects.toMatchObject({
        reason: 'SNAPSHOT_OF_ANOTHER_HISTORY',
        message: expect.stringMatching(/^contents: /),
      });
    }
    expect(matchesHistory({ contents: turns(1, 30), snapshot })).toBe(true);
  });

  test('a history whose thoughts were not stored is the same', async () => {
    const thinking = turns(1, 30).map(({ role, parts }) => ({
      role,
      parts: [{ text: 'Hm.', thought: true, thoughtSignature: 'c2ln' }, ...parts],
    }));
    const { snapshot } = await compacted({ contents: thinking });

    expect(renderSnapshot({ contents: turns(1, 30), snapshot })).toHaveLength(
      2 + 60 - snapshot.contents,
    );
  });

  test('the same input and the same answers give the same result', async () => {
    expect(await compact(input())).toEqual(await compact(input()));
  });

  test('marks are drawn of the whole history, so that none of it can hold one', async () => {
    const { model: asked, prompts } = listening();
    const { snapshot } = await compacted({ model: asked });
    const mark = /marked (\w+)\./.exec(snapshot.text)?.[1] ?? '';

    expect(mark).toMatch(/^[0-9a-f]{32}$/);
    expect(JSON.stringify(prompts[0]?.contents)).not.toContain(mark);
    const other = await compacted({ contents: [...turns(1, 29), user('Good night.')] });
    expect(other.snapshot.text).not.toContain(mark);
  });

  test('days are told where they are known, and nowhere else', async () => {
    const told = listening();
    const untold = listening();
    const timeOf = (_: Content, index: number) => new Date(Date.UTC(2026, 0, 1 + index));

    await compact(input({ model: told.model, timeOf }));
    await compact(input({ model: untold.model }));

    const day = /turn \d+: \d{4}-\d\d-\d\d/;
    expect(JSON.stringify(told.prompts[0]?.contents)).toContain('turn 1: 2026-01-01 Thursday');
    expect(JSON.stringify(untold.prompts[0]?.contents)).not.toMatch(day);
  });

  test('of one very long turn the message stays, and the beginning of its answer is folded', async () => {
    const step = (number: number): Content[] => [
      {
        role: 'model',
        parts: [{ functionCall: { id: `c${number}`, name: 'look', args: { number } } }],
      },
      {
        role: 'user',
        parts: [
          {
            functionResponse: {
              id: `c${number}`,
              name: 'look',
              response: { output: lockerTurn(number).answer },
            },
          },
        ],
      },
    ];
    const steps = (from: number, through: number) =>
      Array.from({ length: through - from + 1 }, (_, index) => step(from + index)).flat();
    const question = user('Locker 7 opens with QX-7007. Look through all of them.');
    const first = await compacted({ contents: [question, ...steps(1, 40)] });

    expect(first.snapshot).toMatchObject({ nextTurn: 1, keptContent: 0 });
    expect(first.contents[2]).toBe(question);
    expect(first.contents[3]?.parts[0]?.functionCall).toBeDefined();
    const [returned, whole] = await Promise.all(
      [first.contents, [question, ...steps(1, 40)]].map((before) =>
        compacted({ contents: [...before, ...steps(41, 80)], snapshot: first.snapshot }),
      ),
    );
    expect(returned?.contents.slice(2)).toEqual(whole?.contents.slice(2));
    expect(returned?.contents[2]).toEqual(question);
    expect(returned?.snapshot.contents).toBeGreaterThan(first.snapshot.contents);
    expect(returned?.snapshot).toMatchObject({ hash: whole?.snapshot.hash });
  });

  test.each<[string, CompactInput['model'], object]>([
    ['empty', () => '', { state: 'FAILED_EMPTY_SUMMARY', reason: 'EMPTY' }],
    [
      'cut',
      () => ({ text: '{"operations":[', finishReason: 'MAX_TOKENS' }),
      { state: 'FAILED_VERIFICATION', reason: 'SUMMARY_MAX_TOKENS' },
    ],
    [
      'no JSON',
      () => 'We talked about lockers.',
      { state: 'FAILED_VERIFICATION', reason: 'SUMMARY_UNREADABLE_NOT_JSON' },
    ],
    [
      'of another conversation',
      () =>
        JSON.stringify({
          operations: [
            {
              op: 'add',
              section: 'key_knowledge',
              items: Array.from({ length: 12 }, (_, at) => ({
                text: `order AB-${90_000 + at} of ${70_000 + at} pieces`,
                sources: [1],
              })),
            },
          ],
          topics: [],
        }),
      { state: 'FAILED_VERIFICATION', reason: 'FOREIGN_ANSWER' },
    ],
  ])(
    'a summary that is %s changes nothing, and the report says so',
    async (_, summariser, report) => {
      const first = await compacted();
      const contents = [...first.contents, ...turns(31, 60)];

      const result = await compact(
        input({ contents, snapshot: first.snapshot, model: summariser }),
      );

      expect(result.report).toMatchObject(report);
      expect(result.contents).toBe(contents);
      expect(result.snapshot).toEqual(first.snapshot);
      expect(result.usage.calls).toBe(1);
    },
  );

  test('what a model throws is thrown', async () => {
    await expect(
      compact(input({ model: () => Promise.reject(new Error('no key')) })),
    ).rejects.toThrow('no key');
    await expect(
      compact(input({ model: { id: 'm', generate: () => Promise.reject(overloaded()) } })),
    ).rejects.toMatchObject({ reason: 'MODEL_OVERLOADED', retryable: true });
  });

  test('a signal ends a call whose model does not listen, and one that has not begun', async () => {
    const controller = new AbortController();
    const begun = compact(
      input({
        signal: controller.signal,
        model: () => {
          controller.abort(new Error('The user left.'));
          return new Promise<never>(() => undefined);
        },
      }),
    );

    await expect(begun).rejects.toThrow('The user left.');
    await expect(compact(input({ signal: controller.signal }))).rejects.toThrow('The user left.');
  });

  test.each<[string, object, RegExp]>([
    ['a role', { contents: [{ role: 'assistant', parts: [] }] }, /`contents\[0\]\.role`/],
    ['no list', { contents: 'Hello' }, /`contents`/],
    ['a part', { contents: [{ role: 'user', parts: [{ text: 1 }] }] }, /contents\[0\]\.parts\[0\]/],
    ['a threshold', { policy: { thresholdTokens: 0 } }, /`policy\.thresholdTokens`/],
    ['an unknown setting', { policy: { threshold: 5 } }, /`policy\.threshold`/],
    ['a snapshot', { snapshot: { schemaVersion: 2 } }, /`snapshot\.schemaVersion`/],
    ['a trigger', { trigger: 'idle' }, /`trigger`/],
    ['a model', { model: 'gemini' }, /model must be/],
  ])('an input that is wrong is refused by its name: %s', async (_, changes, message) => {
    await expect(compact({ ...input(), ...changes })).rejects.toThrow(message);
  });

  test('whatever a history is made of, none of it is lost and each turn is summarised once', async () => {
    const part = fc.constantFrom('say', 'call', 'greet');
    const contentsOf = (kinds: readonly string[], from: number): Content[] =>
      kinds.flatMap((kind, index) => {
        const [asked, answered] = turn(from + index);
        if (!asked || !answered) return [];
        if (kind === 'greet') return [model(`Greeting ${from + index}.`), asked, answered];
        if (kind === 'say') return [asked, answered];
        const name = 'look';
        return [
          asked,
          { role: 'model' as const, parts: [{ functionCall: { name, args: { index } } }] },
          { role: 'user' as const, parts: [{ functionResponse: { name, response: { index } } }] },
          answered,
        ];
      });
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(part, { minLength: 10, maxLength: 40 }), { minLength: 1, maxLength: 4 }),
        async (rounds) => {
          let whole: Content[] = [];
          let kept: readonly Content[] = [];
          let snapshot: CompactResult['snapshot'];
          const read: number[] = [];
          const asked = listening();
          for (const [index, kinds] of rounds.entries()) {
            const more = contentsOf(kinds, 1 + 40 * index);
            whole = [...whole, ...more];
            const result = await compact(
              input({ contents: [...kept, ...more], snapshot, model: asked.model }),
            );
            const shown = snapshot ? renderSnapshot({ contents: whole, snapshot }) : whole;
            expect(shown).toEqual([...kept, ...more]);
            const { contents } = await compact(
              input({ contents: whole, snapshot, model: notingFacts }),
            );
            expect(contents.slice(2)).toEqual(result.contents.slice(2));
            ({ contents: kept, snapshot } = result);
            expect(compactionSnapshotSchema.optional().parse(snapshot && stored(snapshot))).toEqual(
              snapshot,
            );
          }
          for (const { contents } of asked.prompts)
            for (const [, seq] of JSON.stringify(contents).matchAll(/(?:\\n|")\[(\d+)\] user: /g))
              read.push(Number(seq));
          expect(read).toEqual([...new Set(read)].toSorted((a, b) => a - b));
        },
      ),
      { numRuns: 25 },
    );
  });
});

describe('who may write a summary', () => {
  const answer = (text: string) => ({
    content: [{ type: 'text' as const, text }],
    finishReason: { unified: 'stop' as const, raw: 'stop' },
    usage: {
      inputTokens: { total: 900, noCache: 900, cacheRead: 0, cacheWrite: 0 },
      outputTokens: { total: 50, text: 40, reasoning: 10 },
    },
    warnings: [],
  });
  const ledger = JSON.stringify({
    operations: [
      {
        op: 'add',
        section: 'key_knowledge',
        items: [{ text: `locker 1: ${lockerCode(1)}`, sources: [1] }],
      },
    ],
    topics: [],
  });

  test('a model of the AI SDK', async () => {
    const source = new MockLanguageModelV4({ doGenerate: () => Promise.resolve(answer(ledger)) });

    const { report, usage, snapshot } = await compacted({ model: fromAiSdk(source) });

    expect(report.state).toBe('COMPACTED');
    expect(usage).toEqual({ calls: 1, promptTokens: 900, outputTokens: 50 });
    expect(snapshot.text).toContain(lockerCode(1));
    expect(source.doGenerateCalls[0]).toMatchObject({ responseFormat: { type: 'json' } });
  });

  test('Gemini, by its SDK', async () => {
    const gemini = await startFakeGemini();
    onTestFinished(() => gemini.close());

    const { report, usage } = await compacted({
      model: fromGemini('gemini-2.5-flash', { apiKey: 'none', baseUrl: gemini.url }),
    });

    expect(report.state).toBe('COMPACTED');
    expect(usage.calls).toBe(1);
    expect(usage.promptTokens).toBeGreaterThan(1_000);
  });
});

const statementsIn = (verified: VerifiedSummary) =>
  verified.ok ? Object.values(verified.statements.sections).flat() : [];

describe('the parts of a compaction', () => {
  test('a split leaves the newest turns, and what compact folds is what it says', async () => {
    const contents = turns(1, 30);
    const split = chooseSplit({ contents, policy });
    const { contents: sent, report } = await compacted({ contents });

    expect([...(split?.folded ?? []), ...(split?.kept ?? [])]).toEqual(contents);
    expect(split?.kept).toEqual(sent.slice(2));
    expect(split?.turnsFolded).toBe(report.turnsFolded);
    expect(chooseSplit({ contents: turns(1, 1), policy })).toBeUndefined();
  });

  test('tool outputs are shortened to a budget, the newest last', () => {
    const output = (name: string): Content => ({
      role: 'user',
      parts: [{ functionResponse: { name, response: { output: `${name} `.repeat(4_000) } } }],
    });
    const contents = [user('Go on.'), output('older'), output('newer')];

    const {
      contents: shortened,
      tokensAfter,
      tokensBefore,
    } = shortenToolOutputs({
      contents,
      budgetTokens: 8_000,
    });

    expect(tokensBefore).toBeGreaterThan(8_000);
    expect(tokensAfter).toBeLessThanOrEqual(8_000);
    expect(shortened[0]).toBe(contents[0]);
    expect(estimateTokens([shortened[1] ?? user('')])).toBeLessThan(
      estimateTokens([shortened[2] ?? user('')]),
    );
    expect(() => shortenToolOutputs({ contents, budgetTokens: 0 })).toThrow(/budgetTokens/);
  });

  test('a summary is verified: what nobody said is marked, and a rule must be a sentence of the user', () => {
    const contents = [
      user('Never call me before 9. Locker 1 opens with QX-4812.'),
      model('I will not.'),
    ];
    const verify = (section: string, item: object) =>
      verifySummary({
        contents,
        answer: JSON.stringify({ operations: [{ op: 'add', section, items: [item] }], topics: [] }),
      });

    const [noted] = statementsIn(
      verify('key_knowledge', { text: 'locker 1: QX-4812; locker 2: QX-9999', sources: [1] }),
    );
    expect(noted?.text).toBe('locker 1: QX-4812; locker 2: QX-9999⁇');
    const quote = 'Never call me at all.';
    expect(verify('active_constraints', { text: quote, quote, sources: [1] })).toMatchObject({
      ok: true,
      statements: { sections: { key_knowledge: [{ text: quote }] } },
      check: { refused: { QUOTE_NOT_OF_USER: 1 } },
    });
    expect(verifySummary({ contents, answer: 'no JSON' })).toEqual({
      ok: false,
      reason: 'SUMMARY_UNREADABLE_NOT_JSON',
    });
  });

  test('tokens are estimated for a text and for contents', () => {
    const text = 'Locker 1 opens with QX-4812.';

    expect(estimateTokens([user(text)])).toBe(estimateTokens(text));
    expect(estimateTokens('')).toBe(0);
  });
});
