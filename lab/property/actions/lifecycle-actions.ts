import fc from 'fast-check';
import { cancelTurn } from '#functions/chat/turns/finish/cancel-turn.ts';
import {
  deleteConversation,
  eraseOwnConversation,
} from '#functions/chat/conversations/erase/delete-conversation.ts';
import { forkConversation } from '#functions/chat/conversations/fork/fork-conversation.ts';
import { deleteMessage } from '#functions/chat/conversations/erase/delete-message.ts';
import { restoreGeneration } from '#functions/chat/context/restore-generation.ts';
import { undeleteConversation } from '#functions/chat/conversations/erase/undelete-conversation.ts';
import { runSweep } from '#functions/worker/sweep/sweep.ts';
import { chatOf, ownConversation, messageIdOf, send, type Action } from './actors.ts';
import { FORK } from '../initial-state.ts';

const chat = fc.constantFrom('chat-0', 'chat-1');
const worker = fc.constantFrom('worker-0', 'worker-1');
/** A turn that every initial state but the empty one has, and those that come after. */
const seq = fc.integer({ min: 2, max: 5 });

/** An answer by its turn, or a message that another strand may be sending. */
const message = fc.oneof(
  seq.map((input) => `m_${input}`),
  fc.constantFrom('message-2', messageIdOf('alpha'), messageIdOf('bravo')),
);

export const cancelling = (input: { server: string; seq: number }): Action => ({
  text: `turn ${input.seq} is cancelled on ${input.server}`,
  server: input.server,
  run: async (stage) => {
    await cancelTurn(chatOf(stage), { ...ownConversation, turnId: `t_${input.seq}` });
  },
});
const cancels = fc.record({ server: chat, seq }).map(cancelling);

const edits = fc
  .record({ server: chat, messageId: fc.constantFrom('message-2', messageIdOf('alpha')) })
  .map((input): Action => ({
    text: `${input.messageId} is edited on ${input.server}`,
    server: input.server,
    run: (stage) =>
      send(stage, { name: 'edited', replacing: { kind: 'edit', messageId: input.messageId } }),
  }));

const regenerates = fc.record({ server: chat, seq }).map((input): Action => ({
  text: `the answer m_${input.seq} is made anew on ${input.server}`,
  server: input.server,
  run: (stage) =>
    send(stage, { name: 'anew', replacing: { kind: 'regenerate', messageId: `m_${input.seq}` } }),
}));

const deletesMessage = fc.record({ server: chat, messageId: message }).map((input): Action => ({
  text: `${input.messageId} is deleted on ${input.server}`,
  server: input.server,
  run: async (stage) => {
    await deleteMessage(chatOf(stage), { ...ownConversation, messageId: input.messageId });
  },
}));

const restores = fc
  .record({
    server: chat,
    generation: fc.nat({ max: 2 }),
    requestId: fc.constantFrom('r-a', 'r-b'),
  })
  .map((input): Action => ({
    text: `generation ${input.generation} is restored on ${input.server} (${input.requestId})`,
    server: input.server,
    run: async (stage) => {
      const { generation, requestId } = input;
      const request = { ...ownConversation, generation, requestId, locale: undefined };
      await restoreGeneration(chatOf(stage), request);
    },
  }));

const deletes = fc.record({ server: chat }).map(({ server }): Action => ({
  text: `the conversation is put into the bin on ${server}`,
  server,
  run: async (stage) => {
    await deleteConversation(chatOf(stage), ownConversation);
  },
}));

const undeletes = fc.record({ server: chat }).map(({ server }): Action => ({
  text: `the conversation is taken out of the bin on ${server}`,
  server,
  run: async (stage) => {
    await undeleteConversation(chatOf(stage), ownConversation);
  },
}));

export const passingThroughBin = ({ server }: { server: string }): Action => ({
  text: `the conversation is put into the bin and taken out again on ${server}`,
  server,
  run: async (stage) => {
    await deleteConversation(chatOf(stage), ownConversation);
    await undeleteConversation(chatOf(stage), ownConversation);
  },
});
const passesThroughBin = fc.record({ server: chat }).map(passingThroughBin);

const erases = fc.record({ server: chat }).map(({ server }): Action => ({
  text: `the conversation is erased on ${server}`,
  server,
  run: async (stage) => {
    await eraseOwnConversation(chatOf(stage), ownConversation);
  },
}));

const forks = fc.record({ server: chat, seq }).map((input): Action => ({
  text: `the conversation is forked after m_${input.seq} on ${input.server}`,
  server: input.server,
  run: async (stage) => {
    await forkConversation(chatOf(stage), {
      ...ownConversation,
      messageId: `m_${input.seq}`,
      id: FORK,
    });
  },
}));

const sweeps = fc.record({ server: worker }).map(({ server }): Action => ({
  text: `${server} sweeps`,
  server,
  run: async ({ world, flow }) => {
    const { signal } = new AbortController();
    await runSweep(world.worker(world.server(server), flow), signal);
  },
}));

/** Everything that changes turns that were finished, or the conversation as a whole; and the sweep. */
export const lifecycleActions = [
  { weight: 2, arbitrary: cancels },
  { weight: 2, arbitrary: edits },
  { weight: 2, arbitrary: regenerates },
  { weight: 2, arbitrary: deletesMessage },
  { weight: 2, arbitrary: restores },
  { weight: 1, arbitrary: deletes },
  { weight: 1, arbitrary: undeletes },
  { weight: 1, arbitrary: passesThroughBin },
  { weight: 1, arbitrary: erases },
  { weight: 2, arbitrary: forks },
  { weight: 2, arbitrary: sweeps },
];
