import { describe, expect, test } from 'vitest';
import { runCompaction } from '#functions/worker/compaction/run-compaction.ts';
import { see } from '#test/support/compaction/compacted-conversation.ts';
import {
  benchWith,
  buildWithLog,
  compactLog,
  GOOD,
  logged,
  refusedFor,
} from '#test/support/compaction/condensing.ts';
import { overloaded } from '#test/support/model-down.ts';

describe('what a model must not do to a tool output', () => {
  test.each([
    ['states a number that it does not have', 'Order TK-88341 went to door 4711.', 'INVENTED'],
    ['names an order that it does not name', 'Order TK-88342 went to door 17.', 'INVENTED'],
    ['names a path that it does not name', 'See /srv/store/secret.csv.', 'INVENTED'],
    ['words an error anew', `${GOOD}\nError: the rack was missing.`, 'ERROR_REWORDED'],
    ['is no shorter', 'row by row, all is well. '.repeat(2_000), 'TOO_LONG'],
    ['is empty', '   ', 'EMPTY'],
  ])('a condensed output that %s is not used', async (_, answer, reason) => {
    const bench = benchWith(() => Promise.resolve(answer));

    const { result, text, history } = await compactLog(bench);

    expect(result).toMatchObject({ state: 'COMPACTED' });
    expect(text).toContain('row 3999 of alpha');
    expect(text).not.toContain('Condensed by a model');
    expect(history?.report).toMatchObject({ condensing: refusedFor(reason) });
    expect(logged(bench, 'tool_output_not_condensed')).toMatchObject([{ reason }]);
  });

  test('half a character in a condensed output does not reach the store', async () => {
    const { history } = await compactLog(benchWith(() => Promise.resolve(`${GOOD} \ud83d`)));

    expect(history?.report).toMatchObject({ condensing: { condensed: 1 } });
    expect(JSON.stringify(history?.masks).isWellFormed()).toBe(true);
    expect(JSON.stringify(history?.masks)).not.toContain('\\ud83d');
  });
});

describe('a call to condense that fails', () => {
  test('a failed condensing call leaves the output cut, to be retried', async () => {
    const { result, text, history } = await compactLog(
      benchWith(() => Promise.reject(overloaded())),
    );

    expect(result).toMatchObject({ state: 'COMPACTED' });
    expect(text).toContain('row 3999 of alpha');
    expect(history?.report).toMatchObject({ condensing: refusedFor('MODEL_OVERLOADED') });
    expect(history?.masks[0]).not.toHaveProperty('condensed');
  });

  test('a condensing call is given up after fifteen seconds', async () => {
    const bench = benchWith((_, signal) => {
      bench.clock.advance(15_000);
      expect(signal.aborted).toBe(false);
      return new Promise((resolve) => {
        // Says something in the end, when nobody listens any more.
        signal.addEventListener('abort', () => resolve(GOOD), { once: true });
      });
    });

    const { result, text, history } = await compactLog(bench);

    expect(result).toMatchObject({ state: 'COMPACTED' });
    expect(text).toContain('row 3999 of alpha');
    expect(history?.report).toMatchObject({ condensing: refusedFor('TIMEOUT') });
    expect(history?.masks[0]?.condensed).toBe(false);
  });

  test('a condensing call is not given up before fifteen seconds', async () => {
    const bench = benchWith(() => {
      bench.clock.advance(14_999);
      return Promise.resolve(GOOD);
    });

    expect((await compactLog(bench)).text).toContain(GOOD);
  });

  test('a condensing call stops with the compaction', async () => {
    const stop = new AbortController();
    const bench = benchWith(() => {
      stop.abort(new Error('the process ends'));
      return Promise.reject(overloaded());
    });
    const conversationId = await buildWithLog(bench);

    const result = await runCompaction(bench, { conversationId, signal: stop.signal });

    expect(result.kind).toBe('retry');
    expect((await see(bench.store, conversationId)).conversation.generation).toBe(0);
  });
});
