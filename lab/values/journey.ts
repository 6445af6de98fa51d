import { randomUUID } from 'node:crypto';
import { CALLS_PER_ROUND } from '#functions/chat/turns/tools/tool-limits.ts';
import { appTools } from './app-tools.ts';
import {
  type Journey,
  call,
  changeMessages,
  eraseAll,
  look,
  prove,
  said,
  send,
  supplyOf,
} from './calls.ts';
import { clientWrites } from './client-writes.ts';
import { SUMMARY, TOOLS, answer, callsOf, summary, usageOf, wildPart } from './model-answers.ts';
import { describeValue } from './hostile-json.ts';
import type { HostileWorld } from './world.ts';

/** What went wrong, and with what. */
interface JourneyResult {
  problems: string[];
  /** How many values were given to the service. */
  values: number;
  /** What came of its compactions. */
  outcomes: string[];
}

/** The model calls tools of the server with anything, and they give anything. */
async function serverTools(journey: Journey): Promise<void> {
  const { supply, model } = journey;
  const round = () => [answer(callsOf(TOOLS, supply, CALLS_PER_ROUND))];
  model.queue.push(round(), round(), [answer([], { usageMetadata: usageOf(supply) })]);
  await send(journey, said('What is there?'));
}

/** What the model says has no sense. */
async function wildAnswer(journey: Journey): Promise<void> {
  const { supply, model } = journey;
  const parts = Array.from({ length: 10 }, (_, index) => wildPart(index, supply.take()));
  const end = { content: supply.take(), finishReason: supply.take() };
  model.queue.push(
    [answer(parts), { candidates: [end], usageMetadata: supply.take() }, answer([])],
    [answer([], { promptFeedback: supply.take(), usageMetadata: { promptTokenCount: 1e308 } })],
  );
  await send(journey, said('And what else?'));
}

async function compactAndGoBack(journey: Journey): Promise<void> {
  const { path, conversationId, supply, problems, model } = journey;
  model.answerAside(() => (supply.taken % 3 === 0 ? SUMMARY : summary(supply)));
  await call(journey, { method: 'POST', path: `${path}:compact`, body: {} });
  try {
    journey.outcomes.push(await journey.compact(conversationId));
  } catch (error) {
    problems.push(`the compaction threw: ${error instanceof Error ? error.stack : String(error)}`);
  }
  model.answerAside(() => undefined);
  await look(journey);
  await call(journey, { path: `${path}/compactions/1` });
  await call(journey, { method: 'POST', path: `${path}:restore`, body: { generation: 0 } });
}

/** Lives one conversation of a new user, with these values wherever something is stored. */
export async function journeyWith(
  world: HostileWorld,
  values: readonly unknown[],
): Promise<JourneyResult> {
  const conversationId = randomUUID();
  const supply = supplyOf(values);
  const problems: string[] = [];
  const path = `/v1/conversations/${conversationId}`;
  const outcomes: string[] = [];
  const uid = randomUUID();
  const journey: Journey = { ...world, uid, conversationId, path, supply, problems, outcomes };
  world.give.next = supply.take;
  const first = randomUUID();
  const tools = [{ name: 'locate', description: 'Tells where.', parameters: { type: 'object' } }];
  await call(journey, {
    method: 'POST',
    path: '/v1/conversations',
    body: { id: conversationId, tools, systemInstruction: 'Be brief.' },
  });
  await send(journey, said('I have a boat called Aurora.', first));
  await serverTools(journey);
  await wildAnswer(journey);
  await appTools(journey, values.length + describeValue(values[0]).length);
  await prove(journey, 'by the model or a tool');
  await clientWrites(journey);
  await prove(journey, 'by a client');
  await serverTools(journey);
  await look(journey);
  await compactAndGoBack(journey);
  await prove(journey, 'by a compaction');
  await changeMessages(journey, first);
  await prove(journey, 'by a change of messages');
  await eraseAll(journey);
  return { problems, values: supply.taken, outcomes };
}
