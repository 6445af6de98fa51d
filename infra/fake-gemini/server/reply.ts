import { answerFromContext, callTools, fillSchema } from '#infra/fake-gemini/answers/chat.ts';
import { condense, isCondensing, nameMessages, route } from '../answers/auxiliary.ts';
import { isReadable, signPart, signsCalls } from './refusals.ts';
import { cutToTokens, textTokens } from '#infra/fake-gemini/answers/token-rule.ts';
import { summarise } from '../summaries/summaries.ts';
import { endings, type Fault, isFailure, isOf, type Vices } from './faults.ts';
import type { JournalEntry } from './journal.ts';
import type { RecordedAnswers } from './recorded-answers.ts';
import type { ModelRequestBody, RequestPart } from './request.ts';

/** What the model says, before it is cut into events. */
export interface Reply {
  parts: RequestPart[];
  finishReason?: string | undefined;
  /** What a response has in place of its candidate. */
  instead?: object;
  /** What Google's tools gave. */
  metadata?: object | undefined;
  toolTokens?: number | undefined;
}

interface ReplyRequest {
  body: ModelRequestBody;
  promptHash: string;
  vices: Vices;
  recorded: RecordedAnswers;
  fault: Fault | undefined;
  /** Says which model is asked, and gets which recording was used. */
  entry: JournalEntry;
}

/**
 * Gemini 3 signs the first function call of an answer, whether a recording has kept the signature or not. What another
 * has signed is signed anew: a signature is of the model that is asked here.
 */
function sign(
  { entry: { model }, vices }: ReplyRequest,
  parts: readonly RequestPart[],
): RequestPart[] {
  const firstCall = parts.findIndex((part) => part.functionCall !== undefined);
  const signed = vices.signsTexts === true && firstCall < 0 ? parts.length - 1 : firstCall;
  return parts.map((part, index) => {
    const { thoughtSignature, ...unsigned } = part;
    if (!signsCalls(model) || (thoughtSignature === undefined && index !== signed)) return unsigned;
    const isOwn = thoughtSignature !== undefined && isReadable(model, thoughtSignature);
    return isOwn ? part : { ...part, thoughtSignature: signPart(model, part) };
  });
}

/** What the model says in a chat. */
function chat(request: ReplyRequest): Reply {
  const { body, entry } = request;
  const contents = body.contents ?? [];
  const isInjectedFailure = isFailure(request.fault);
  const { promptHash } = request;
  const recorded = request.recorded.find({ promptHash, contents, isInjectedFailure });
  if (recorded !== undefined) {
    entry.recorded = { conversation: recorded.conversation, ordinal: recorded.ordinal };
    const parts = recorded.contents.flatMap((each) =>
      each.role === 'user' ? [] : (each.parts ?? []),
    );
    const { metadata, toolTokens } = recorded;
    return { parts: sign(request, parts), metadata, toolTokens };
  }
  const calls = callTools(body);
  if (calls !== undefined) return { parts: sign(request, calls) };
  const text = answerFromContext(contents);
  const schema = body.generationConfig?.responseJsonSchema;
  if (schema === undefined) return { parts: sign(request, [{ text }]) };
  return { parts: [{ text: JSON.stringify(fillSchema(schema, text)) }] };
}

function say(request: ReplyRequest): Reply {
  const { body, entry, vices } = request;
  switch (entry.role) {
    case 'utility_compressor': {
      const text = isCondensing(entry.promptId) ? condense(body) : summarise(body, vices);
      return { parts: [{ text }] };
    }
    case 'utility_title':
      return { parts: [{ text: nameMessages(body) }] };
    case 'utility_router':
      return { parts: [{ text: route(body) }] };
    default:
      return chat(request);
  }
}

/** Keeps the first `tokens` tokens of the text parts. */
function cutParts(parts: readonly RequestPart[], tokens: number): RequestPart[] {
  let left = tokens;
  return parts.flatMap((part) => {
    if (part.text === undefined) return [part];
    const text = cutToTokens(part.text, left);
    left = Math.max(0, left - textTokens(text));
    return text === '' ? [] : [{ ...part, text }];
  });
}

function applyFault(reply: Reply, wantedTokens: number, fault: Fault | undefined): Reply {
  if (fault?.kind === 'blockedPrompt') {
    const blockReason = fault.reason ?? 'PROHIBITED_CONTENT';
    return { parts: [], instead: { promptFeedback: { blockReason } } };
  }
  if (fault?.kind === 'emptyCandidates') {
    if (fault.shape === 'noParts') return { parts: [], finishReason: 'STOP' };
    return { parts: [], instead: fault.shape === 'emptyList' ? { candidates: [] } : {} };
  }
  const isHalf =
    fault?.kind === 'halfText' || (fault?.kind === 'maxTokens' && fault.afterEvents === undefined);
  return {
    ...reply,
    parts: isHalf ? cutParts(reply.parts, Math.ceil(wantedTokens / 2)) : reply.parts,
    ...(fault && isOf(endings, fault) && { finishReason: toSnakeCase(fault.kind) }),
  };
}

const toSnakeCase = (kind: string) => kind.replaceAll(/[A-Z]/g, '_$&').toUpperCase();

/** The reply to a request that was not refused, with vices and with the faults that are in what is said. */
export function composeReply(request: ReplyRequest): Reply {
  const whole = say(request);
  const limit = request.body.generationConfig?.maxOutputTokens ?? Number.POSITIVE_INFINITY;
  const wantedTokens = whole.parts.reduce((sum, { text = '' }) => sum + textTokens(text), 0);
  const reply =
    limit < wantedTokens
      ? { ...whole, parts: cutParts(whole.parts, limit), finishReason: 'MAX_TOKENS' }
      : { ...whole, finishReason: 'STOP' };
  return applyFault(reply, wantedTokens, request.fault);
}
