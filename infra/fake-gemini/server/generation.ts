import type { FaultQueue } from './faults.ts';
import type { Journal, JournalEntry } from './journal.ts';
import type { Messaging } from './messaging.ts';
import type { Vices } from './misbehaviour.ts';
import type { Measure, PrefixCache } from './prefix-cache.ts';
import type { RecordedAnswers } from './recorded-answers.ts';
import { refuseCount, refuseGeneration, refuseModel, type GoogleError } from './refusals.ts';
import { composeReply } from './reply.ts';
import type { Address, ModelRequestBody } from './request.ts';
import {
  type Exchange,
  sendAnswer,
  sendError,
  sendFailure,
  sendJson,
  type Timing,
  wait,
} from './respond.ts';

const usualWindowTokens = 1_048_576;

/** What one fake Gemini is made of. */
export interface Model {
  timing: Timing;
  vices: Vices;
  /** Windows by exact model name; any other model has 1,048,576 tokens. */
  windows: Map<string, number>;
  faults: FaultQueue;
  recorded: RecordedAnswers;
  journal: Journal;
  cache: PrefixCache;
  /** Firebase Cloud Messaging, behind the same address. */
  messaging: Messaging;
}

/** A model request as it arrived. */
export interface Arrival {
  address: Address;
  body: ModelRequestBody;
  measure: Measure;
  rawBody: string;
  headers: { role: string | undefined; promptId: string | undefined };
}

/** Notes an arrival in the journal. */
export function openEntry(model: Model, arrival: Arrival): JournalEntry {
  const { address, headers, measure, rawBody } = arrival;
  const entry = {
    api: address.api,
    operation: address.operation,
    model: address.model,
    role: headers.role ?? (address.operation === 'countTokens' ? '' : 'chat'),
    promptId: headers.promptId ?? '',
    promptTokens: measure.promptTokens,
    cachedTokens: 0,
  };
  return model.journal.open(entry, rawBody);
}

function refuse(model: Model, { address, body, measure }: Arrival): GoogleError | undefined {
  const unknown = refuseModel(address);
  if (unknown !== undefined) return unknown;
  if (address.operation === 'countTokens') return refuseCount(address, body);
  const windowTokens = model.windows.get(address.model) ?? usualWindowTokens;
  const { promptTokens } = measure;
  return refuseGeneration({ model: address.model, body, promptTokens, windowTokens });
}

/** Answers one model request; resolves when the answer is sent or its client has gone. */
export async function answer(
  model: Model,
  arrival: Arrival,
  connection: Pick<Exchange, 'response' | 'entry' | 'signal'>,
): Promise<void> {
  const { address, body, measure } = arrival;
  const { entry, response, signal } = connection;
  const fault = model.faults.take(entry);
  if (fault !== undefined) entry.fault = fault.kind;
  const exchange: Exchange = { ...connection, fault, timing: () => model.timing };
  if (fault?.kind === 'delay') await wait(fault.delayMs ?? 0, signal);
  if (await sendFailure(exchange)) return;
  const refusal = refuse(model, arrival);
  if (refusal !== undefined) {
    entry.refusal = refusal.message;
    sendError(exchange, refusal);
    return;
  }
  if (address.operation === 'countTokens') {
    entry.httpStatus = 200;
    sendJson(response, 200, { totalTokens: measure.promptTokens });
    return;
  }
  entry.cachedTokens = model.cache.use(address.model, measure.prefixes);
  const { vices, recorded } = model;
  const promptHash = measure.prefixes.at(-1)?.hash ?? '';
  const request = { body, model: address.model, promptHash, vices, recorded, fault, entry };
  if (entry.role === 'utility_compressor') await wait(vices.slowMs ?? 0, signal);
  await sendAnswer(exchange, composeReply(request));
}
