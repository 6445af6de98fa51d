import { describe, expect, test } from 'vitest';
import { runCompaction } from '#functions/worker/compaction/run-compaction.ts';
import { neverAborted, see } from '#test/support/compaction/compacted-conversation.ts';
import { compactionBench } from '#test/support/compaction/compaction-dependencies.ts';
import { buildWithLog, configWith, refusedFor } from '#test/support/compaction/condensing.ts';
import { eventually } from '#test/support/eventually.ts';
import { startModelServer } from '#test/support/processes/model-server.ts';

const { server, worker } = await startModelServer();

const bench = () => compactionBench({ config: configWith({ CONDENSE_TOOL_OUTPUTS: 'on' }) });

describe('condensing with a model server', () => {
  test('condensed lines of an honest model server are kept', async () => {
    const own = bench();
    const conversationId = await buildWithLog(own);

    await runCompaction(worker(own), { conversationId, signal: neverAborted() });

    const { text, history } = await see(own.store, conversationId);
    expect(history?.report).toMatchObject({ condensing: { asked: 1, condensed: 1 } });
    expect(text).toContain('order TK-88341 of alpha went to door 17');
    expect(text).toContain('/srv/store/list-alpha.csv');
  });

  test('condensed lines of an inventive model server are rejected', async () => {
    server.setVices({ inventive: true });
    const own = bench();
    const conversationId = await buildWithLog(own);

    await runCompaction(worker(own), { conversationId, signal: neverAborted() });

    const { text, history } = await see(own.store, conversationId);
    expect(history?.report).toMatchObject({ condensing: { asked: 1, condensed: 0 } });
    expect(text).not.toContain('Condensed by a model');
  });

  test('condensing by a silent model server is given up after fifteen seconds', async () => {
    const promptId = 'request-1-condense-1';
    server.queueFaults({ kind: 'hang', match: { promptId } });
    const own = bench();
    const conversationId = await buildWithLog(own);

    const running = runCompaction(worker(own), { conversationId, signal: neverAborted() });
    await eventually('the call', () =>
      Promise.resolve(server.journal().find((entry) => entry.promptId === promptId)),
    );
    own.clock.advance(15_000);

    expect(await running).toMatchObject({ state: 'COMPACTED' });
    const { history } = await see(own.store, conversationId);
    expect(history?.report).toMatchObject({ condensing: refusedFor('TIMEOUT') });
  });
});
