import { callId } from '#shared/conversation/context/tool-calls.ts';
import { type Call, type Journey, call, jsonOf, said, send } from './calls.ts';
import { answer, callsOf } from './model-answers.ts';
import { jsonText } from './hostile-json.ts';

type Given = { id: string; value: unknown };

/** The ways in which an app answers calls: what is said, and where. */
const ways: ((journey: Journey, seq: number, given: Given[]) => Call)[] = [
  ({ path }, seq, given) => ({
    path: `${path}/turns/t_${seq}/toolResults`,
    body: { results: given.map(({ id, value }) => ({ callId: id, output: value })) },
  }),
  ({ conversationId }, _, given) => ({
    path: '/callable/chat',
    body: {
      data: {
        conversationId,
        toolResults: given.map(({ id, value }) => ({ callId: id, output: value })),
      },
    },
  }),
  ({ conversationId }, _, given) => ({
    path: '/v1/openai/chat/completions',
    body: {
      model: 'recap',
      metadata: { conversation_id: conversationId },
      messages: given.map(({ id, value }) => ({
        role: 'tool',
        tool_call_id: id,
        content: typeof value === 'string' ? value : jsonText(value),
      })),
    },
  }),
  ({ conversationId }, seq, given) => ({
    path: '/v1/ai-sdk/chat',
    body: {
      id: conversationId,
      messages: [
        {
          id: `m_${seq}`,
          role: 'assistant',
          parts: given.map(({ id, value }) => ({
            type: 'dynamic-tool',
            toolCallId: id,
            state: 'output-available',
            output: value,
          })),
        },
      ],
    },
  }),
];

/** The model calls functions of the app, which answers with anything; what is refused it answers with an error. */
export async function appTools(journey: Journey, way: number): Promise<void> {
  const { supply, model, path } = journey;
  model.queue.push([answer(callsOf(['locate'], supply, 4))]);
  const sent = jsonOf((await send(journey, said('Where am I?'))).text);
  const turn: unknown = sent['turn'];
  if (typeof turn !== 'object' || turn === null || !('seq' in turn)) return;
  const seq = Number(turn.seq);
  const ids = [0, 1, 2, 3].map((index) => callId(seq, index));
  for (const id of ids) {
    const given = [{ id, value: supply.take() }];
    const { path: place, body } = ways[way % ways.length]?.(journey, seq, given) ?? { path };
    const taken = await call(journey, { method: 'POST', path: place, body });
    if (taken.status < 300) continue;
    const results = [{ callId: id, error: 'There is none.' }];
    const place2 = `${path}/turns/t_${seq}/toolResults`;
    await call(journey, { method: 'POST', path: place2, body: { results } });
  }
}
