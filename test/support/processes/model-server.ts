import type { WorkerDependencies } from '#functions/worker/worker-dependencies.ts';
import { startFakeGemini } from '#infra/fake-gemini/server/start-fake-gemini.ts';
import { modelAt } from '#test/support/gemini-model-calls.ts';
import { afterAll, beforeEach } from 'vitest';

/** The local model server of a test file, without faults and vices when a test begins. */
export async function startModelServer() {
  const server = await startFakeGemini();
  beforeEach(() => {
    server.clearFaults();
    server.clearJournal();
    server.setVices({});
  });
  afterAll(() => server.close());
  const model = modelAt(server.url);
  return {
    server,
    model,
    /** A worker with the real adapter of the model, before this server. */
    worker: (bench: WorkerDependencies): WorkerDependencies => ({ ...bench, model }),
  };
}
