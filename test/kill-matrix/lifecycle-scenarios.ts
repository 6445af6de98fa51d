import { restoreGeneration } from '#functions/chat/context/restore-generation.ts';
import {
  deleteConversation,
  eraseOwnConversation,
  undeleteConversation,
} from '#functions/chat/conversations/erase/delete-conversation.ts';
import { deleteMessage } from '#functions/chat/conversations/erase/delete-message.ts';
import { claimGuest } from '#functions/chat/inbox/claim-guest.ts';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { eraseUser } from '#functions/chat/conversations/erase/erase-user.ts';
import { forkConversation } from '#functions/chat/conversations/fork/fork-conversation.ts';
import { caller, messageIdOf, ownConversation } from '#lab/property/actions/actors.ts';
import { markedTurns, CONVERSATION } from '#lab/property/initial-state.ts';
import { answerMark, marksIn, questionMark, questionText } from '#lab/property/scripted-models.ts';
import {
  chatNamePath,
  claimPath,
  inboxPath,
  notesPath,
  conversationPath,
} from '#shared/conversation/documents/paths.ts';
import { encodeNotes } from '#shared/memory/note.ts';
import { isCount } from '../support/compaction/commit-rules.ts';
import { readableFields } from '../support/stores/readable-fields.ts';
import { due, MARKS, problem, stateOf, type After, type Scenario } from './scenario.ts';
import type { Stage } from './stage.ts';

const FORK = 'fork-of-c-one';

const compact = ({ deliver }: Stage) =>
  deliver({ schemaVersion: 1, conversationId: CONVERSATION, requestId: 'before' });

/** Documents below and at a path. */
const under = ({ everything }: After, path: string) =>
  everything.filter((document) => document.path === path || document.path.startsWith(`${path}/`));

/** What tells of a person or of what was said, beside tombstones. */
const remains = (after: After): string[] =>
  after.everything
    .filter(({ path, fields }) => {
      const text = readableFields(fields);
      // Figures of the day outlive an erasure; nothing in them names a conversation.
      if (isCount(path)) return text.includes(CONVERSATION) || marksIn(text).length > 0;
      return fields['state'] !== 'erased' || text.includes('u1') || marksIn(text).length > 0;
    })
    .map(({ path }) => `${path} is left`);

/** For a while the owner's devices are told that it is gone, and nothing else of it. */
const remainsBesideGone = (after: After): string[] =>
  remains({
    ...after,
    everything: after.everything.filter(({ fields }) => fields['list'] !== 'gone'),
  });

const tellsOf = (after: After, mark: string): string[] =>
  under(after, conversationPath(CONVERSATION))
    .filter(({ fields }) => readableFields(fields).includes(mark))
    .map(({ path }) => `${path} still tells of ${mark}`);

function forkProblems(after: After): string[] {
  const [conversation] = under(after, `conversations/${FORK}`).filter(
    ({ path }) => path.split('/').length === 2,
  );
  const turns = under(after, `conversations/${FORK}/turns`);
  const marks = turns.flatMap(({ fields }) => marksIn(JSON.stringify(fields)));
  const wanted = MARKS.slice(0, 3)
    .flatMap((mark) => [questionMark(mark), answerMark(mark)])
    .toSorted();
  return [
    ...problem(conversation?.fields['state'] !== 'live', 'the fork is not live'),
    ...problem(
      conversation?.fields['lastSeq'] !== 3,
      'the head of the fork does not name its turns',
    ),
    ...problem(turns.length !== 3, `the fork has ${turns.length} turns`),
    ...problem(marks.toSorted().join() !== wanted.join(), `the fork says ${marks.join(' ')}`),
  ];
}

const isState = (state: string) => (after: After) =>
  problem(
    after.documents.conversation?.state !== state,
    `it is ${after.documents.conversation?.state}, not ${state}`,
  );

const changes: Scenario[] = [
  {
    name: 'a restored generation',
    points: ['generation-restored'],
    initial: due,
    run: async (stage) => {
      await compact(stage);
      await stage.phone('restoring', (chat) =>
        restoreGeneration(chat, {
          ...ownConversation,
          generation: 0,
          requestId: 'restore-1',
          locale: undefined,
        }),
      );
    },
    problems: ({ documents }) =>
      problem(
        documents.histories.filter(({ state }) => state === 'RESTORED').length !== 1,
        'there is not one restored generation',
      ),
  },
  {
    name: 'a deleted message that was folded',
    points: ['message-wiped', 'erasure-finished'],
    initial: due,
    run: async (stage) => {
      await compact(stage);
      await stage.phone('deleting a message', (chat) =>
        deleteMessage(chat, { ...ownConversation, messageId: 'message-1' }),
      );
    },
    problems: (after) => [
      ...tellsOf(after, 'q-first-mark'),
      ...tellsOf(after, 'a-first-mark'),
      ...problem(
        after.documents.conversation?.pendingErasure !== undefined,
        'an erasure is left over',
      ),
    ],
  },
  {
    name: 'a conversation that is put into the bin and taken out of it',
    points: ['conversation-deleted', 'conversation-undeleted'],
    initial: due,
    run: async ({ phone }) => {
      await phone('deleting', (chat) => deleteConversation(chat, ownConversation));
      await phone('undeleting', (chat) => undeleteConversation(chat, ownConversation));
    },
    problems: isState('live'),
  },
];

const copies: Scenario[] = [
  {
    name: 'a fork',
    points: ['fork-begun', 'fork-cleared', 'fork-batch-copied', 'fork-copied', 'fork-live'],
    initial: due,
    run: async (stage) => {
      await compact(stage);
      await stage.phone('forking', (chat) =>
        forkConversation(chat, { ...ownConversation, messageId: 'message-3', id: FORK }),
      );
    },
    problems: forkProblems,
  },
];

const erasures: Scenario[] = [
  {
    name: 'a conversation that is erased for good',
    points: [
      'conversation-marked',
      'erase-published',
      'erase-begun',
      'erase-pass-done',
      'erase-uploads-released',
      'erase-tombstone-written',
    ],
    initial: due,
    run: async (stage) => {
      await compact(stage);
      await stage.phone('erasing', (chat) => eraseOwnConversation(chat, ownConversation));
    },
    problems: remainsBesideGone,
  },
  {
    name: 'a person who is erased in the middle of an answer',
    points: ['conversation-marked', 'user-documents-erased'],
    initial: due,
    run: async (stage) => {
      const said = stage.say({ name: 'alpha' }, ['chat-1', 'chat-1']);
      await stage.pass(400);
      await stage.phone('erasing all', (chat) => eraseUser(chat, { caller }));
      await said;
    },
    problems: remains,
  },
];

const guest = { uid: 'guest', tier: 'anonymous' } as const;

/** A guest with a conversation, a note and a name of a chat. */
const guestState = await stateOf('two turns of a guest', {
  turns: markedTurns(['first', 'second']),
  conversation: { ownerUid: guest.uid },
});
const saved = { id: 'n1', text: 'A note.', source: 'user' as const, savedAt: new Date(0) };
const notes = encodeNotes({ revision: 1, notes: [{ ...saved, revision: 1 }] });
const ofGuest: Scenario['initial'] = {
  ...guestState,
  writes: [
    ...guestState.writes,
    { op: 'create', path: notesPath(guest.uid), fields: notes },
    {
      op: 'create',
      path: chatNamePath(guest.uid, 'a-chat'),
      fields: { schemaVersion: 1, conversationId: 'c1', updateTime: new Date(0) },
    },
  ],
};

/** What is not with the account, or still with the guest. */
function claimProblems(after: After): string[] {
  const paths = new Set(after.everything.map(({ path }) => path));
  const [claim] = under(after, claimPath(guest.uid));
  const moved = [
    notesPath(caller.uid),
    chatNamePath(caller.uid, 'a-chat'),
    inboxPath(caller.uid, 'c1'),
  ];
  return [
    ...problem(after.documents.conversation?.ownerUid !== caller.uid, 'it is not the account’s'),
    ...moved.filter((path) => !paths.has(path)).map((path) => `${path} is not there`),
    ...[...paths]
      .filter((path) => path.startsWith('users/guest/'))
      .map((path) => `${path} is left`),
    ...problem(claim?.fields['state'] !== 'done', 'the claim is not done'),
  ];
}

const claims: Scenario[] = [
  {
    name: 'a guest who is claimed in the middle of an answer',
    points: [
      'claim-begun',
      'conversation-claimed',
      'guest-documents-copied',
      'guest-copies-cleared',
      'user-documents-erased',
      'claim-done',
    ],
    initial: ofGuest,
    run: async (stage) => {
      const asked = stage.phone(
        'asking as the guest',
        async (chat) => {
          const message = { id: messageIdOf('alpha'), parts: [{ text: questionText('alpha') }] };
          stage.world.journal.sent.set(message.id, { name: 'alpha', replacing: undefined });
          const asking = { caller: guest, conversationId: 'c1', message };
          return (await sendMessage(chat, asking)).result;
        },
        ['chat-1', 'chat-1'],
      );
      await stage.pass(400);
      await stage.phone('claiming', (chat) => {
        const verify = () => Promise.resolve({ ...guest, signedInAt: new Date(0) });
        return claimGuest({ ...chat, idTokens: { verify } }, { caller, guestToken: 'guest' });
      });
      await asked;
    },
    problems: claimProblems,
  },
];

/** Everything that changes a conversation beside its turns, or takes it away. */
export const lifecycleScenarios: readonly Scenario[] = [
  ...changes,
  ...copies,
  ...erasures,
  ...claims,
];
