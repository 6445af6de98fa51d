import { createServer, type ServerResponse } from 'node:http';
import type { TestContext } from 'vitest';
import {
  createGeminiModel,
  type GeminiModelOptions,
} from '#functions/adapters/gemini/gemini-model.ts';
import { startFakeGemini } from '#infra/fake-gemini/server/start-fake-gemini.ts';
import { openServer } from '#infra/local/processes/open-server.ts';
import type { Content } from '#shared/models/content.ts';
import { AppError } from '#shared/lib/errors.ts';
import type { ModelChunk, ModelRequest } from '#shared/ports/ports.ts';
import { eventually } from './eventually.ts';

type Finishing = Pick<TestContext, 'onTestFinished'>;

export const never = new AbortController().signal;
export const secret =
  'The vault code is 7731-SECRET and it must stay between us, whatever anybody says.';
export const contents: Content[] = [
  { role: 'user', parts: [{ text: secret }] },
  { role: 'model', parts: [{ text: 'Noted.' }] },
  { role: 'user', parts: [{ text: 'What is the vault code?' }] },
];
export const request: ModelRequest = {
  model: 'gemini-2.5-flash',
  contents,
  role: 'chat',
  promptId: 't_17',
};

/** The adapter, connected to a server of the test; it waits longer than a busy machine takes, unless a test says otherwise. */
export const modelAt = (
  baseUrl: string,
  { waitMs = 30_000, ...options }: Partial<GeminiModelOptions> & { waitMs?: number } = {},
) =>
  createGeminiModel({
    apiKey: 'no-key',
    baseUrl,
    firstEventTimeoutMs: waitMs,
    eventIdleTimeoutMs: waitMs,
    requestTimeoutMs: waitMs,
    ...options,
  });

/** A fake Gemini of the test's own, and the adapter connected to it. */
export async function startModel(
  { onTestFinished }: Finishing,
  options: Partial<GeminiModelOptions> = {},
) {
  const fakeGemini = await startFakeGemini();
  onTestFinished(() => fakeGemini.close());
  return { fakeGemini, model: modelAt(fakeGemini.url, options) };
}

/** A server that answers each request as `respond` does, and the adapter connected to it. */
export async function startModelThat(
  { onTestFinished }: Finishing,
  respond: (response: ServerResponse) => void,
  options: Partial<GeminiModelOptions> = {},
) {
  let requests = 0;
  const server = createServer((_, response) => {
    requests += 1;
    respond(response);
  });
  const { url, close } = await openServer(server);
  onTestFinished(close);
  return { model: modelAt(url, options), requests: () => requests };
}

export async function collect(chunks: AsyncIterable<ModelChunk>): Promise<ModelChunk[]> {
  const collected: ModelChunk[] = [];
  for await (const chunk of chunks) collected.push(chunk);
  return collected;
}

export function textOf(chunks: readonly ModelChunk[]): string {
  return chunks.flatMap((chunk) => chunk.parts.map((part) => part.text ?? '')).join('');
}

/** What came of a stream, and the AppError that ended it, if one did. */
export async function collectUntilFailure(chunks: AsyncIterable<ModelChunk>) {
  const received: ModelChunk[] = [];
  try {
    for await (const chunk of chunks) received.push(chunk);
    return { received };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { received, failure: error };
  }
}

/** The AppError that the work ends with; anything else fails the test. */
export async function failureOf(work: Promise<unknown>): Promise<AppError> {
  const error: unknown = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof AppError)) throw new Error('no AppError', { cause: error });
  return error;
}

/** Waits for a state of the fake Gemini; in concurrent tests, where `expect.poll` does not know its test. */
export async function until(isTrue: () => boolean): Promise<void> {
  await eventually('the state of the model', async () => isTrue() || undefined);
}
