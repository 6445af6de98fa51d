import { answerFromContext } from '../answers/answer.ts';
import { callTools } from '../answers/call-tools.ts';
import { condense, isCondensing } from '../answers/condense.ts';
import { type Fault, finishReasons, isFailure } from './faults.ts';
import { fillSchema } from '../answers/fill-schema.ts';
import { ground, type Grounded, type Page } from '../answers/ground.ts';
import type { JournalEntry } from './journal.ts';
import { recordedParts, type RecordedAnswers } from './recorded-answers.ts';
import { type ModelRequestBody, type RequestPart, contentText } from './request.ts';
import { route } from './route.ts';
import { isReadable, signPart, signsCalls } from '../answers/signatures.ts';
import { summarise } from '../summaries/summaries.ts';
import { cutToTokens, textTokens } from '../answers/token-rule.ts';
import { chant, type Vices } from './misbehaviour.ts';
import { z } from 'zod';
import { firstCodePoints, splitSentences } from '../answers/sentences.ts';

const messagesSchema = z.object({
  messages: z.array(z.object({ role: z.string(), text: z.string() })),
});

const TITLE_CODE_POINTS = 40;

/** A name for the messages of a request: how the user's first one begins, without its last mark. */
function nameMessages(body: ModelRequestBody): string {
  const text = contentText(body.contents?.at(-1));
  let asked = text;
  try {
    const { messages } = messagesSchema.parse(JSON.parse(text));
    asked = messages.find(({ role }) => role === 'user')?.text ?? messages[0]?.text ?? '';
  } catch {
    // Named as it is.
  }
  const [sentence = 'Conversation'] = splitSentences(asked);
  return firstCodePoints(sentence, TITLE_CODE_POINTS).replace(/[\s.!?。！？,;:]+$/u, '');
}

/** What the model says, before it is cut into events. */
export interface Reply {
  parts: RequestPart[];
  finishReason?: string;
  blockReason?: string;
  /** No candidate at all: the field missing, or an empty list. */
  noCandidates?: 'missing' | 'emptyList';
  /** What Google's tools gave. */
  grounded?: Pick<Grounded, 'metadata' | 'toolTokens'> | undefined;
}

interface ReplyRequest {
  body: ModelRequestBody;
  model: string;
  promptHash: string;
  vices: Vices;
  recorded: RecordedAnswers;
  fault: Fault | undefined;
  /** What a search finds. */
  web: readonly Page[];
  /** Gets which recording was used. */
  entry: JournalEntry;
}

/**
 * Gemini 3 signs the first function call of an answer, whether a recording has kept the signature or not. What another
 * has signed is signed anew: a signature is of the model that is asked here.
 */
function sign(
  { model, vices }: Pick<ReplyRequest, 'model' | 'vices'>,
  parts: readonly RequestPart[],
): RequestPart[] {
  const first = parts.findIndex((part) => part.functionCall !== undefined);
  const last = vices.signsTexts === true && first < 0 ? parts.length - 1 : first;
  return parts.map((part, index) => {
    const isSigned = part.thoughtSignature !== undefined || index === last;
    if (!isSigned || !signsCalls(model)) return withoutSignature(part);
    const { thoughtSignature: kept } = part;
    const isOwn = kept !== undefined && isReadable(model, kept);
    return { ...part, thoughtSignature: isOwn ? kept : signPart(model, part) };
  });
}

function withoutSignature(part: RequestPart): RequestPart {
  const { thoughtSignature: _, ...rest } = part;
  return rest;
}

/** What the model says by itself. */
function chat(request: ReplyRequest): RequestPart[] {
  const { body, entry, fault, recorded, vices } = request;
  const answer = recorded.find({
    promptHash: request.promptHash,
    contents: body.contents ?? [],
    isInjectedFailure: isFailure(fault),
  });
  if (answer !== undefined) {
    entry.recorded = { conversation: answer.conversation, ordinal: answer.ordinal };
    return sign(request, recordedParts(answer));
  }
  const called = callTools(body);
  if (called !== undefined) return sign(request, called);
  const grounded = ground(body, request.web);
  if (grounded) return sign(request, grounded.parts);
  const answered = answerFromContext(body.contents ?? []);
  const text = vices.chanting === true ? chant(answered) : answered;
  const config = body.generationConfig;
  const schema = config?.responseJsonSchema ?? config?.responseSchema;
  if (schema === undefined) return sign(request, [{ text }]);
  return [{ text: JSON.stringify(fillSchema(schema, text)) }];
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

function partsTokens(parts: readonly RequestPart[]): number {
  return parts.reduce((sum, part) => sum + textTokens(part.text ?? ''), 0);
}

function applyFault(reply: Reply, fault: Fault | undefined): Reply {
  if (fault?.kind === 'blockedPrompt') {
    return { parts: [], blockReason: fault.reason ?? 'PROHIBITED_CONTENT' };
  }
  if (fault?.kind === 'emptyCandidates') {
    return fault.shape === 'noParts'
      ? { parts: [], finishReason: 'STOP' }
      : { parts: [], noCandidates: fault.shape ?? 'missing' };
  }
  if (fault?.kind === 'maxTokens' && fault.afterEvents === undefined) {
    const half = Math.ceil(partsTokens(reply.parts) / 2);
    return { parts: cutParts(reply.parts, half), finishReason: 'MAX_TOKENS' };
  }
  const finishReason = fault === undefined ? undefined : finishReasons[fault.kind];
  return finishReason === undefined ? reply : { ...reply, finishReason };
}

function partsOf(request: ReplyRequest): RequestPart[] {
  const { body, entry, vices } = request;
  switch (entry.role) {
    case 'utility_compressor':
      return [
        { text: isCondensing(entry.promptId) ? condense(body, vices) : summarise(body, vices) },
      ];
    case 'utility_title':
      return [{ text: nameMessages(body) }];
    case 'utility_router':
      return [{ text: route(body, vices) }];
    default:
      return chat(request);
  }
}

/** The reply to a request that was not refused, vices and content faults included. */
export function composeReply(request: ReplyRequest): Reply {
  const { body, vices } = request;
  if (vices.empty === true) {
    return applyFault({ parts: [], finishReason: 'STOP' }, request.fault);
  }
  const parts = partsOf(request);
  const limit = body.generationConfig?.maxOutputTokens ?? Number.POSITIVE_INFINITY;
  const wanted = partsTokens(parts);
  const allowed = Math.min(limit, vices.truncated === true ? Math.floor(wanted / 2) : wanted);
  const isGrounded = request.entry.role === 'chat' && request.entry.recorded === undefined;
  const grounded = isGrounded ? ground(body, request.web) : undefined;
  const reply =
    allowed < wanted
      ? { parts: cutParts(parts, allowed), finishReason: 'MAX_TOKENS', grounded }
      : { parts, finishReason: 'STOP', grounded };
  return applyFault(reply, request.fault);
}
