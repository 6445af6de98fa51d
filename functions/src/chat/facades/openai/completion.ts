import { AppError } from '#shared/lib/errors.ts';
import { singleLineJson } from '#shared/lib/json-text.ts';
import type { ModelUsage } from '#shared/ports/ports.ts';
import type {
  ChatCompletion,
  ChatCompletionChunk,
  OpenAiFinishReason,
  OpenAiToolCall,
  OpenAiUsage,
} from '#shared/wire/facades/openai.ts';
import { toFinishReason } from '#shared/models/finish-reason.ts';
import {
  heldFrames,
  streamText,
  type Answer,
  type AnswerStep,
  type StreamOptions,
} from '../translation/answer.ts';
import { openAiErrorReply } from './error-reply.ts';

/** An answer as a chat completion. */
export interface Completion {
  answer: Answer;
  /** What of the request had no effect. */
  ignored: readonly string[];
}

/** How clients of OpenAI are told why an answer ended. They know no answer that was stopped: it ends as any. */
export function openAiFinish({ calls, finishReason }: AnswerStep): OpenAiFinishReason {
  if (calls.length > 0) return 'tool_calls';
  const known = toFinishReason(finishReason);
  switch (known) {
    case 'length':
      return 'length';
    case 'content-filter':
      return 'content_filter';
    case 'tool-calls':
      return 'tool_calls';
    case 'stop':
    case 'error':
    case 'other':
      return 'stop';
  }
}

/** Tokens as OpenAI counts them: thinking is part of the completion, the cache part of the prompt. */
export function openAiUsage(usage: ModelUsage): OpenAiUsage {
  const { cachedTokens, outputTokens, thoughtsTokens } = usage;
  const promptTokens = usage.promptTokens + (usage.toolTokens ?? 0);
  const completionTokens = outputTokens + thoughtsTokens;
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    prompt_tokens_details: { cached_tokens: cachedTokens },
    completion_tokens_details: { reasoning_tokens: thoughtsTokens },
  };
}

/** Citations as a message and its deltas have them; nothing where there are none. */
const annotationsOf = ({ citations }: AnswerStep) =>
  citations.length === 0
    ? {}
    : {
        annotations: citations.map((citation) => ({
          type: 'url_citation' as const,
          url_citation: citation,
        })),
      };

const toolCallsOf = ({ calls }: AnswerStep): OpenAiToolCall[] =>
  calls.map(({ callId, name, args }) => ({
    id: callId,
    type: 'function',
    function: { name, arguments: JSON.stringify(args) },
  }));

/** What came of an answer. Throws APPROVAL_NEEDED where it waits for the user's word, for which this protocol has none. */
async function wordedStep({ recap: { turnId }, step }: Answer): Promise<AnswerStep> {
  const result = await step();
  const { calls, approvals } = result;
  if (calls.length > 0 || approvals.length === 0) return result;
  throw new AppError({
    reason: 'APPROVAL_NEEDED',
    publicMessage: `The answer waits until the user allows ${approvals.map(({ name }) => name).join(' and ')}, which OpenAI's protocol cannot ask. Allow or refuse it with POST /v1/conversations/{conversationId}/turns/${turnId}/toolResults, then send the same request again.`,
    metadata: { turnId, calls: approvals.map(({ callId }) => callId).join(',') },
  });
}

const identityOf = ({ answer: { recap, created, model } }: Completion) => ({
  id: `chatcmpl-${recap.conversationId}-${recap.turnId}`,
  created,
  model,
});

const toldOf = ({ answer: { recap }, ignored }: Completion) => ({
  recap,
  ...(ignored.length > 0 && { ignored: [...ignored] }),
});

type Choice = ChatCompletionChunk['choices'][number];

const event = (data: object) => `data: ${singleLineJson(data)}\n\n`;
const DONE = 'data: [DONE]\n\n';

/** One answer as the chunks of a stream. */
function chunksOf(completion: Completion, includeUsage: boolean) {
  const chunk = (choices: Choice[], more: Partial<ChatCompletionChunk> = {}) =>
    event({
      ...identityOf(completion),
      object: 'chat.completion.chunk',
      choices,
      ...(includeUsage && { usage: null }),
      ...more,
    } satisfies ChatCompletionChunk);
  const choice = (delta: Choice['delta'], finish: Choice['finish_reason'] = null): Choice => ({
    index: 0,
    delta,
    logprobs: null,
    finish_reason: finish,
  });
  return {
    first: () => chunk([choice({ role: 'assistant', content: '' })], toldOf(completion)),
    text: (content: string) => chunk([choice({ content })]),
    citations: (step: AnswerStep) => chunk([choice(annotationsOf(step))]),
    calls: (step: AnswerStep) =>
      chunk([choice({ tool_calls: toolCallsOf(step).map((call, index) => ({ index, ...call })) })]),
    last: (step: AnswerStep) => chunk([choice({}, openAiFinish(step))]),
    usage: (usage: ModelUsage) => chunk([], { usage: openAiUsage(usage) }),
  };
}

type Chunks = ReturnType<typeof chunksOf>;

async function* completionEvents(
  { answer }: Completion,
  chunks: Chunks,
  { left, includeUsage }: { left: AbortSignal; includeUsage: boolean },
): AsyncGenerator<string> {
  yield chunks.first();
  for await (const { chunk } of heldFrames(answer, { left }))
    if (chunk.type === 'text-delta') yield chunks.text(chunk.delta);
  if (left.aborted) return;
  const step = await wordedStep(answer);
  if (step.citations.length > 0) yield chunks.citations(step);
  if (step.calls.length > 0) yield chunks.calls(step);
  yield chunks.last(step);
  if (includeUsage && step.usage) yield chunks.usage(step.usage);
  yield DONE;
}

/**
 * The text of a stream of chunks: `data:` lines alone, with `[DONE]` at the end. A silence is a chunk without a word,
 * because some clients read each line as JSON. What fails ends as an error, for clients to throw.
 */
export function completionText(
  completion: Completion,
  options: StreamOptions & {
    /** Whether the client asked for a last chunk with the usage. */
    includeUsage: boolean;
  },
): AsyncGenerator<string> {
  const chunks = chunksOf(completion, options.includeUsage);
  const failed = (error: unknown) => event(openAiErrorReply(error, options.docsUrl).body);
  const events = completionEvents(completion, chunks, options);
  return streamText(events, { silence: chunks.text(''), failed }, options);
}

/** The whole answer as one JSON. Throws what it fails with, and APPROVAL_NEEDED. */
export async function completionBody(completion: Completion): Promise<ChatCompletion> {
  const step = await wordedStep(completion.answer);
  return {
    ...identityOf(completion),
    object: 'chat.completion',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: step.text,
          refusal: null,
          ...annotationsOf(step),
          ...(step.calls.length > 0 && { tool_calls: toolCallsOf(step) }),
        },
        logprobs: null,
        finish_reason: openAiFinish(step),
      },
    ],
    ...(step.usage && { usage: openAiUsage(step.usage) }),
    ...toldOf(completion),
  };
}
