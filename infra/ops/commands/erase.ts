import { eraseOwnConversation } from '#functions/chat/conversations/erase/delete-conversation.ts';
import { eraseUser } from '#functions/chat/conversations/erase/erase-user.ts';
import { ownConversations } from '#functions/chat/conversations/own-conversation.ts';
import {
  conversationPath,
  uploadsCollection,
  userPath,
} from '#shared/conversation/documents/paths.ts';
import type { Caller } from '#shared/ports/ports.ts';
import { ArgumentError } from '#infra/command-line.ts';
import { opsCommand, yesArg, type ExitCode } from '../command.ts';
import { readOwned, rehearse } from '#infra/ops/owner.ts';
import type { Project } from '../project.ts';
import { counted, figure, type Screen } from '../screen.ts';

/** Ids of a user's conversations that a dry run tells one by one. */
const TOLD_MAX = 20;

interface Erasing {
  project: Project;
  screen: Screen;
  isMeant: boolean;
}

/** What nobody owns any more: documents below a conversation document that is not there, or below a tombstone. */
async function eraseOrphans({ project, screen, isMeant }: Erasing, id: string): Promise<ExitCode> {
  const path = conversationPath(id);
  const below = await project.tree.collectionsBelow(path);
  if (!isMeant) {
    screen.json({ dryRun: true, collections: below });
    screen.print(
      below.length === 0
        ? `nothing is left below ${path}`
        : `would delete all that stands in ${below.join(', ')} below ${path}; --yes does it`,
    );
    return 0;
  }
  const documents = await project.chat.store.deleteBelow(path);
  screen.json({ documents });
  screen.print(`deleted ${figure(documents)} documents below ${path}`);
  return 0;
}

async function eraseOne(erasing: Erasing, conversationId: string): Promise<ExitCode> {
  const { project, screen, isMeant } = erasing;
  const [document] = await project.chat.store.get([conversationPath(conversationId)]);
  if (!document || document.fields['state'] === 'erased')
    return eraseOrphans(erasing, conversationId);
  const { caller, conversation } = await readOwned(project, conversationId);
  const target = { caller, conversationId };
  if (isMeant) {
    await eraseOwnConversation(project.chat, target);
    screen.json({ conversationId, state: 'erasing' });
    screen.print(
      `${conversationId} is marked, and nobody finds it any more; the worker deletes its documents (\`verify ${conversationId}\` tells when it has)`,
    );
    return 0;
  }
  await rehearse(project.chat, (chat) => eraseOwnConversation(chat, target));
  screen.json({ dryRun: true, conversationId });
  screen.print(
    `would erase ${conversationId}: ${counted(conversation.value.lastSeq, 'turn')}, its notes and the files that only it names; this cannot be undone. --yes does it`,
  );
  return 0;
}

/** Files are deleted from here: where they are must be known. */
async function refuseUnknownFiles({ chat }: Project, uid: string): Promise<void> {
  if (chat.files) return;
  const [upload] = await chat.store.query({ collection: uploadsCollection(uid), limit: 1 });
  if (!upload) return;
  throw new Error(
    'the user has files, and UPLOADS_BUCKET is not known here: give the variables of the deployed functions with --env-file',
  );
}

async function eraseAllOf({ project, screen, isMeant }: Erasing, uid: string): Promise<ExitCode> {
  const caller: Caller = { uid, tier: 'signedIn' };
  await refuseUnknownFiles(project, uid);
  if (isMeant) {
    const { conversations } = await eraseUser(project.chat, { caller });
    screen.json({ uid, conversations, state: 'erasing' });
    screen.print(
      `${figure(conversations)} conversations are marked, and all that stood below the user is deleted; the worker deletes the rest`,
    );
    return 0;
  }
  const ids: string[] = [];
  let conversations = 0;
  for await (const { conversationId, conversation } of ownConversations(project.chat, caller)) {
    if (conversation.value.state === 'erased') continue;
    conversations += 1;
    if (ids.length < TOLD_MAX) ids.push(conversationId);
    screen.progress(`${figure(conversations)} conversations`);
  }
  const below = await project.tree.collectionsBelow(userPath(uid));
  screen.json({ dryRun: true, conversations, first: ids, collections: below });
  const more = conversations - ids.length;
  screen.print(
    [
      `would erase ${figure(conversations)} conversations:`,
      ...ids.map((id) => `  ${id}`),
      ...(more > 0 ? [`  and ${figure(more)} more`] : []),
      `and what stands below ${userPath(uid)}: ${below.join(', ') || 'nothing'}; this cannot be undone. --yes does it`,
    ].join('\n'),
  );
  return 0;
}

/** Erases a conversation, or all of a user, as the user's own request does. */
export const eraseCommand = opsCommand({
  name: 'erase',
  description: 'Erases a conversation, or everything of a user, for good.',
  args: {
    conversation: { type: 'positional', required: false, description: 'id of the conversation' },
    user: { type: 'string', valueHint: 'UID', description: 'everything of this user' },
    ...yesArg,
  },
  async run({ args, project, screen }) {
    const { conversation, user } = args;
    const erasing = { project, screen, isMeant: args.yes };
    if (conversation !== undefined && user === undefined) return eraseOne(erasing, conversation);
    if (user !== undefined && conversation === undefined) return eraseAllOf(erasing, user);
    throw new ArgumentError('erase takes the id of a conversation, or --user UID');
  },
});
