import { createGeminiModel } from '#functions/adapters/gemini/gemini-model.ts';
import type { CompactionDependencies } from '#functions/worker/compaction/run.ts';
import { startFakeGemini } from '#infra/fake-gemini/server/start-fake-gemini.ts';
import { afterAll, beforeEach } from 'vitest';

/** No answer of a server on this machine takes as long; a test that waits moves its own clock. */
const PATIENCE_MS = 60_000;

/** The local model server of a test file, without faults and vices when a test begins. */
export async function startModelServer() {
  const server = await startFakeGemini();
  beforeEach(() => {
    server.clearFaults();
    server.clearJournal();
    server.setVices({});
  });
  afterAll(() => server.close());
  const model = createGeminiModel({
    apiKey: 'local',
    baseUrl: server.url,
    firstEventTimeoutMs: PATIENCE_MS,
    eventIdleTimeoutMs: PATIENCE_MS,
    requestTimeoutMs: PATIENCE_MS,
  });
  return {
    server,
    model,
    /** A worker with the real adapter of the model, before this server. */
    worker: (bench: CompactionDependencies): CompactionDependencies => ({ ...bench, model }),
  };
}
