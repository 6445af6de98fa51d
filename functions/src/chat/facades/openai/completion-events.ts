import { settlesWithin } from '#functions/lib/deadline.ts';
import type { Clock } from '#shared/ports/ports.ts';
import { AppError } from '#shared/errors.ts';
import type { ChatCompletion, ChatCompletionChunk } from '#shared/wire/facades/openai.ts';
import type { StreamChunk } from '#shared/wire/resources/streams.ts';
import { singleLineJson } from '#shared/json-text.ts';
import {
  HEARTBEAT_DUE,
  withHeartbeats,
  type HeartbeatOptions,
} from '#functions/chat/http/heartbeat.ts';
import {
  openAiAnnotations,
  openAiFinish,
  openAiUsage,
  type Completion,
  type CompletionResult,
} from './completion.ts';
import { openAiErrorReply } from './error-reply.ts';

const event = (data: object) => `data: ${singleLineJson(data)}\n\n`;
const DONE = 'data: [DONE]\n\n';

/** What was said in the stream does not hold any more, and this protocol cannot take it back. */
export const restartedError = ({ recap }: Completion) =>
  new AppError({
    status: 'UNAVAILABLE',
    reason: 'ANSWER_RESTARTED',
    message: `${recap?.turnId ?? 'an answer'} began anew while it was streamed`,
    publicMessage: 'The answer was begun anew. Send the same request again to get it.',
    retryable: true,
  });

const isRestart = (chunk: StreamChunk) =>
  chunk.type === 'data-notice' && chunk.data.kind === 'restarted';

type Choice = ChatCompletionChunk['choices'][number];

/** One answer as the chunks of a stream. */
function chunksOf(completion: Completion, { includeUsage }: { includeUsage: boolean }) {
  const { id, created, model, recap, ignored } = completion;
  const told = { ...(recap && { recap }), ...(ignored.length > 0 && { ignored: [...ignored] }) };
  const chunk = (choices: Choice[], more: Partial<ChatCompletionChunk> = {}) =>
    ({
      id,
      object: 'chat.completion.chunk',
      created,
      model,
      choices,
      ...(includeUsage && { usage: null }),
      ...more,
    }) satisfies ChatCompletionChunk;
  const choice = (delta: Choice['delta'], finish: Choice['finish_reason'] = null): Choice => ({
    index: 0,
    delta,
    logprobs: null,
    finish_reason: finish,
  });
  return {
    first: () => chunk([choice({ role: 'assistant', content: '' })], told),
    text: (content: string) => chunk([choice({ content })]),
    calls: (calls: NonNullable<CompletionResult['toolCalls']>) =>
      chunk([choice({ tool_calls: calls.map((call, index) => ({ index, ...call })) })]),
    citations: (result: CompletionResult) => chunk([choice(openAiAnnotations(result))]),
    last: (result: CompletionResult) => chunk([choice({}, openAiFinish(result))]),
    usage: (usage: ChatCompletionChunk['usage']) => chunk([], { usage }),
  };
}

interface EventOptions extends HeartbeatOptions {
  /** Whether the client asked for a last chunk with the usage. */
  includeUsage: boolean;
  /** Where reasons of errors are explained. */
  docsUrl?: string | undefined;
}

/**
 * The text of a stream of chunks: `data:` lines alone, with `[DONE]` at the end. A silence is a chunk without
 * a word, because some clients read each line as JSON. What fails ends as an error, for clients to throw.
 */
export async function* completionText(
  completion: Completion,
  options: EventOptions,
): AsyncGenerator<string> {
  const { left, includeUsage } = options;
  const chunks = chunksOf(completion, options);
  let isSaid = false;
  try {
    yield event(chunks.first());
    for await (const next of withHeartbeats(completion.frames(left), options)) {
      if (next === HEARTBEAT_DUE) yield event(chunks.text(''));
      else if (isRestart(next.chunk) && isSaid) throw restartedError(completion);
      else if (next.chunk.type === 'text-delta') {
        isSaid = true;
        yield event(chunks.text(next.chunk.delta));
      }
    }
    if (left.aborted) return;
    const result = await completion.result;
    const { toolCalls = [], usage, citations } = result;
    if (citations.length > 0) yield event(chunks.citations(result));
    if (toolCalls.length > 0) yield event(chunks.calls(toolCalls));
    yield event(chunks.last(result));
    if (includeUsage && usage) yield event(chunks.usage(openAiUsage(usage)));
    yield DONE;
  } catch (error) {
    yield event(openAiErrorReply(error, options.docsUrl).body);
  }
}

/** The whole answer as one JSON. */
export async function completionBody(completion: Completion): Promise<ChatCompletion> {
  const { id, created, model, recap, ignored } = completion;
  const result = await completion.result;
  const { text, toolCalls = [], usage } = result;
  return {
    id,
    object: 'chat.completion',
    created,
    model,
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: text,
          refusal: null,
          ...openAiAnnotations(result),
          ...(toolCalls.length > 0 && { tool_calls: [...toolCalls] }),
        },
        logprobs: null,
        finish_reason: openAiFinish(result),
      },
    ],
    ...(usage && { usage: openAiUsage(usage) }),
    ...(recap && { recap }),
    ...(ignored.length > 0 && { ignored: [...ignored] }),
  };
}

async function firstWord(completion: Completion): Promise<void> {
  for await (const { chunk } of completion.frames()) if (chunk.type === 'text-delta') return;
  await completion.result;
}

/**
 * Resolves with the first word of an answer, or after `waitMs`. Throws what an answer fails with before it:
 * as long as nothing is sent, an error has a status of its own, and only by it the SDKs try again.
 */
export async function untilFirstWord(
  completion: Completion,
  { clock, waitMs }: { clock: Clock; waitMs: number },
): Promise<void> {
  await settlesWithin(clock, waitMs, firstWord(completion));
}
