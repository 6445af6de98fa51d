import { unsignedToken } from '../processes/unsigned-token.ts';
import { LOCAL_USER } from './stack-environment.ts';
import type { Stack } from './start-stack.ts';

/** Calls to paste into a shell, and where things are. */
export function welcomeText(
  stack: Stack,
  drawn: { now: Date; conversationId: string; messageIds: readonly [string, string] },
): string {
  const token = unsignedToken({ uid: LOCAL_USER, projectId: stack.projectId, now: drawn.now });
  const url = `${stack.chatUrl}/v1/conversations/${drawn.conversationId}/messages`;
  const body = (id: string, text: string) =>
    JSON.stringify({ message: { id, parts: [{ type: 'text', text }] } });
  const call = (flags: string, id: string, text: string) =>
    [
      `curl ${flags} ${url} \\`,
      `  -H "Authorization: Bearer $RECAP_TOKEN" -H 'Content-Type: application/json' \\`,
      `  -d '${body(id, text)}'`,
    ].join('\n');
  return `
${stack.pageUrl ? `  Page        ${stack.pageUrl}/\n\n` : ''}  chat        ${stack.chatUrl}
  compaction  ${stack.compactionUrl}
  model       ${stack.fakeGeminiUrl ? `${stack.fakeGeminiUrl}  ` : ''}${stack.model}
  data        ${stack.firestoreHost ? `${stack.firestoreHost}  ` : ''}${stack.backend}

A token for user ${LOCAL_USER}, then a message whose answer streams:

export RECAP_TOKEN='${token}'

${call("-sN -H 'Accept: text/event-stream'", drawn.messageIds[0], 'My dog is called Pixel.')}

The same as JSON:

${call("-s -H 'Accept: application/json'", drawn.messageIds[1], 'What is my dog called?')}

A recorded conversation through this stack, with its compactions:

npm run replay -- FILE.jsonl --url ${stack.chatUrl}

Ctrl-C ends all of it.
`;
}
