import { afterEach, beforeAll, beforeEach, describe } from 'vitest';
import {
  createGeminiModel,
  type GeminiModelOptions,
} from '#functions/adapters/gemini/gemini-model.ts';
import { startFakeGemini, type FakeGemini } from '#infra/fake-gemini/server/start-fake-gemini.ts';
import type { Content } from '#shared/conversation/documents/content.ts';
import { AppError } from '#shared/errors.ts';
import type { ModelChunk, ModelRequest } from '#shared/ports/ports.ts';

/** The fake Gemini of the test that runs; see `startFakeGeminiForEachTest`. */
export let fakeGemini: FakeGemini;

/** Gives every test of the file that calls this a fake Gemini of its own. */
export function startFakeGeminiForEachTest(): void {
  beforeEach(async () => {
    fakeGemini = await startFakeGemini();
  });
  afterEach(() => fakeGemini.close());
}

/** Who reads the streams of `connect`. */
let streamReader: GeminiModelOptions['streamReader'];

/** The tests of `suite` with each reader of streams: what one passes on, the other does. */
export function describeWithEachReader(name: string, suite: () => void): void {
  describe.each(['adapter', 'sdk'] as const)(`${name}, read by the %s`, (reader) => {
    beforeAll(() => {
      streamReader = reader;
    });
    suite();
  });
}

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

/** The adapter, connected to the fake Gemini. */
export function connect(options: Partial<GeminiModelOptions> = {}) {
  return createGeminiModel({
    apiKey: 'no-key',
    baseUrl: fakeGemini.url,
    streamReader,
    firstEventTimeoutMs: 5_000,
    eventIdleTimeoutMs: 5_000,
    requestTimeoutMs: 5_000,
    ...options,
  });
}

export async function collect(chunks: AsyncIterable<ModelChunk>): Promise<ModelChunk[]> {
  const collected: ModelChunk[] = [];
  for await (const chunk of chunks) collected.push(chunk);
  return collected;
}

export function textOf(chunks: readonly ModelChunk[]): string {
  return chunks.flatMap((chunk) => chunk.parts.map((part) => part.text ?? '')).join('');
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

export async function until(isTrue: () => boolean): Promise<void> {
  const deadline = performance.now() + 5_000;
  while (!isTrue()) {
    if (performance.now() > deadline) throw new Error('the expected state was not reached');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
