import type { FaultQueue, Fault } from './faults.ts';
import { refuseCount, refuseGeneration, refuseModel, type GoogleError } from './refusals.ts';
import type { Journal, JournalEntry } from './journal.ts';
import type { Messaging } from './messaging.ts';
import type { Measure, PrefixCache } from './prefix-cache.ts';
import type { RecordedAnswers } from './recorded-answers.ts';
import { composeReply } from './reply.ts';
import { type Address, lastQuestionIndex, type ModelRequestBody, contentText } from './request.ts';
import {
  type Exchange,
  sendAnswer,
  sendError,
  sendFailure,
  sendJson,
  type Timing,
} from './respond.ts';
import { firstCodePoints } from '../answers/sentences.ts';
import { type Vices, vicesFor } from './misbehaviour.ts';
import { wait } from './events.ts';
import type { Page } from '../answers/ground.ts';

/** What one fake Gemini is made of. */
export interface Model {
  timing: Timing;
  vices: Vices;
  defaultWindowTokens: number;
  windows: Map<string, number>;
  faults: FaultQueue;
  recorded: RecordedAnswers;
  journal: Journal;
  cache: PrefixCache;
  /** What Google's tools find; none: pages are made up. */
  web: Page[];
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

const lastUserTextLength = 200;

/** Notes an arrival in the journal. */
export function openEntry(model: Model, arrival: Arrival): JournalEntry {
  const { address, body, headers } = arrival;
  const contents = body.contents ?? [];
  const question = contentText(contents[lastQuestionIndex(contents)]);
  const entry = {
    api: address.api,
    operation: address.operation,
    model: address.model,
    role: headers.role ?? (address.operation === 'countTokens' ? '' : 'chat'),
    promptId: headers.promptId ?? '',
    promptTokens: arrival.measure.promptTokens,
    cachedTokens: 0,
    contentsCount: contents.length,
    lastUserText: firstCodePoints(question, lastUserTextLength),
    contentsSha256: arrival.measure.contentsSha256,
  };
  return model.journal.open(entry, arrival.rawBody);
}

function refuse(model: Model, arrival: Arrival, promptTokens: number): GoogleError | undefined {
  const { address, body } = arrival;
  const unknown = refuseModel(address);
  if (unknown !== undefined) return unknown;
  if (address.operation === 'countTokens') return refuseCount(address, body);
  const windowTokens = model.windows.get(address.model) ?? model.defaultWindowTokens;
  return refuseGeneration({ ...address, body, promptTokens, windowTokens });
}

function takeFault(model: Model, entry: JournalEntry): Fault | undefined {
  const fault = model.faults.take(entry);
  if (fault !== undefined) entry.fault = fault.kind;
  return fault;
}

/** Answers one model request; resolves when the answer is sent or its client has gone. */
export async function answer(
  model: Model,
  arrival: Arrival,
  connection: Pick<Exchange, 'response' | 'entry' | 'signal'>,
): Promise<void> {
  const { address, body } = arrival;
  const { entry, signal } = connection;
  const fault = takeFault(model, entry);
  const exchange: Exchange = { ...connection, fault, timing: () => model.timing };
  if (fault?.kind === 'delay') await wait(fault.delayMs, signal);
  if (await sendFailure(exchange)) return;
  const refusal = refuse(model, arrival, entry.promptTokens);
  if (refusal !== undefined) {
    entry.refusal = refusal.message;
    sendError(exchange, refusal);
    return;
  }
  if (address.operation === 'countTokens') {
    entry.httpStatus = 200;
    sendJson(connection.response, 200, { totalTokens: entry.promptTokens });
    return;
  }
  const { prefixes } = arrival.measure;
  entry.cachedTokens = model.cache.use(address.model, prefixes);
  const vices = vicesFor(model.vices, entry.role);
  const reply = composeReply({
    body,
    model: address.model,
    promptHash: prefixes.at(-1)?.hash ?? '',
    vices,
    recorded: model.recorded,
    fault,
    web: model.web,
    entry,
  });
  await wait(vices.slowMs ?? 0, signal);
  await sendAnswer(exchange, reply, entry);
}
