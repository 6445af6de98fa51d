import type { UrlCitation } from '#shared/grounding/url-citations.ts';
import type { ModelUsage } from '#shared/ports/ports.ts';
import type {
  OpenAiFinishReason,
  OpenAiToolCall,
  OpenAiUsage,
  RecapField,
} from '#shared/wire/facades/openai.ts';
import type { StreamFrame } from '#shared/wire/resources/streams.ts';
import { toFinishReason } from '#shared/wire/finish-reason.ts';

/** An answer on its way, of a conversation or of none. */
export interface Completion {
  id: string;
  /** Unix time, seconds. */
  created: number;
  model: string;
  /** Where it is stored; undefined where it is not. */
  recap: RecapField | undefined;
  /** What of the request had no effect. */
  ignored: readonly string[];
  /** From the first frame on, then live, until the end or until the reader has `left`. */
  frames(left?: AbortSignal): AsyncIterable<StreamFrame>;
  /** Says that somebody waits for a stored answer until their connection closes (`left`). */
  subscribe?: (left: AbortSignal) => void;
  /** Rejects with AppError when there is no answer. */
  result: Promise<CompletionResult>;
}

export interface CompletionResult {
  text: string;
  /** What the app has to do before the answer goes on; absent where nothing can be asked of it. */
  toolCalls?: readonly OpenAiToolCall[];
  /** As the model gave it; undefined for an answer that was stopped. */
  finishReason: string | undefined;
  usage: ModelUsage | undefined;
  /** What the text rests on. */
  citations: readonly UrlCitation[];
}

/** How clients of OpenAI are told why an answer ended. They know no answer that was stopped: it ends as any. */
function openAiFinishReason(reason: string | undefined): OpenAiFinishReason {
  const known = toFinishReason(reason);
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

/** The same for an answer as it ended: one that waits for the app says so before all. */
export const openAiFinish = ({ toolCalls = [], finishReason }: CompletionResult) =>
  toolCalls.length > 0 ? 'tool_calls' : openAiFinishReason(finishReason);

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
export const openAiAnnotations = ({ citations }: CompletionResult) =>
  citations.length === 0
    ? {}
    : {
        annotations: citations.map((citation) => ({
          type: 'url_citation' as const,
          url_citation: citation,
        })),
      };
