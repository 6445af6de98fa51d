import {
  decodeConversation,
  conversationSchema,
  type Conversation,
} from '#shared/conversation/documents/conversation.ts';
import { CONVERSATIONS } from '#shared/conversation/documents/paths.ts';
import { NewerDocumentError } from '#shared/conversation/documents/read-document.ts';
import type { StoredDocument } from '#shared/ports/ports.ts';
import { lastSegment } from '#shared/store/names.ts';
import { wholeNumber } from '../arguments.ts';
import { opsCommand, pageArgs } from '../command.ts';
import { figure, toTable, time } from '../screen.ts';

const states = conversationSchema.shape.state.options;

/** A line of the list: ids and figures. */
interface Listed {
  id: string;
  /** `newer`: a later release wrote it; `unreadable`: of a shape that nobody knows. `verify` says more. */
  state: Conversation['state'] | 'newer' | 'unreadable';
  conversation?: Conversation;
}

function listedOf(document: StoredDocument): Listed {
  const id = lastSegment(document.path);
  try {
    const conversation = decodeConversation(document).value;
    return { id, state: conversation.state, conversation };
  } catch (error) {
    return { id, state: error instanceof NewerDocumentError ? 'newer' : 'unreadable' };
  }
}

const requestOf = ({ conversation }: Listed): string => {
  const kinds = (['manual', 'auto'] as const).filter(
    (kind) => conversation?.compactionRequests[kind],
  );
  return kinds.length > 0 ? kinds.join('+') : '-';
};

const tableText = (listed: readonly Listed[]) =>
  toTable<Listed>(
    [
      { title: 'conversation', text: ({ id }) => id },
      { title: 'state', text: ({ state }) => state },
      { title: 'turns', text: ({ conversation }) => figure(conversation?.lastSeq), isFigure: true },
      {
        title: 'generation',
        text: ({ conversation }) => figure(conversation?.generation),
        isFigure: true,
      },
      {
        title: 'folded',
        text: ({ conversation }) => figure(conversation?.coveredThrough.seq),
        isFigure: true,
      },
      {
        title: 'tokens',
        text: ({ conversation }) => figure(conversation?.context.tokens),
        isFigure: true,
      },
      { title: 'request', text: requestOf },
      {
        title: 'open',
        text: ({ conversation }) => (conversation?.open ? `turn ${conversation.open.seq}` : '-'),
      },
      { title: 'updated', text: ({ conversation }) => time(conversation?.updateTime) },
    ],
    listed,
  );

const jsonOf = (listed: Listed) => {
  const { conversation } = listed;
  return {
    id: listed.id,
    state: listed.state,
    ...(conversation && {
      ownerUid: conversation.ownerUid,
      model: conversation.model,
      turns: conversation.lastSeq,
      generation: conversation.generation,
      foldedThrough: conversation.coveredThrough.seq,
      contextTokens: conversation.context.tokens,
      request: requestOf(listed),
      open: conversation.open?.seq ?? null,
      createTime: conversation.createTime,
      updateTime: conversation.updateTime,
    }),
  };
};

/** A page of all conversations, or of one user's, in the order of their ids. */
export const conversationsCommand = opsCommand({
  name: 'conversations',
  description: 'Lists conversations: ids and figures, no texts.',
  args: {
    ...pageArgs('50'),
    user: { type: 'string', valueHint: 'UID', description: 'of this user' },
    state: { type: 'enum', options: [...states], description: 'in this state' },
  },
  async run({ args, project, screen }) {
    const { chat } = project;
    const limit = wholeNumber(args.limit, { option: '--limit', least: 1, most: 1_000 });
    const where = [
      ...(args.user === undefined ? [] : [{ field: 'ownerUid', value: args.user }]),
      ...(args.state === undefined ? [] : [{ field: 'state', value: args.state }]),
    ].map((equal) => ({ ...equal, op: '==' as const }));
    const documents = await chat.store.query({
      collection: CONVERSATIONS,
      ...(where.length > 0 && { where }),
      limit,
      ...(args.after !== undefined && { startAfter: { path: `${CONVERSATIONS}/${args.after}` } }),
    });
    const listed = documents.map(listedOf);
    const next = documents.length === limit ? listed.at(-1)?.id : undefined;
    screen.json({ conversations: listed.map(jsonOf), ...(next !== undefined && { next }) });
    screen.print(listed.length === 0 ? 'none' : tableText(listed));
    if (next !== undefined) screen.print(`more: --after ${next}`);
    return 0;
  },
});
