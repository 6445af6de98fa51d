import type { Stack } from './stack-children.ts';
import { LOCAL_USER } from './stack-page.ts';
import { unsignedToken } from '../processes/unsigned-token.ts';

/** How to be told of an answer that nobody waited for; '' where no fake Gemini takes notifications. */
function notificationCalls({
  chatUrl,
  fakeGeminiUrl,
}: Pick<Stack, 'chatUrl' | 'fakeGeminiUrl'>): string {
  if (fakeGeminiUrl === undefined) return '';
  return `A device, and what it was told after a client has left early (curl --max-time 0.1):

curl -s -X PUT ${chatUrl}/v1/users/me/devices/phone \\
  -H "Authorization: Bearer $RECAP_TOKEN" -H 'Content-Type: application/json' \\
  -d '{"token":"a-token","platform":"ios"}'
curl -s ${fakeGeminiUrl}/control/notifications

`;
}

/** Calls to paste into a shell, and where things are. */
export function welcomeText(
  stack: Pick<
    Stack,
    | 'chatUrl'
    | 'compactionUrl'
    | 'pageUrl'
    | 'fakeGeminiUrl'
    | 'firestoreHost'
    | 'projectId'
    | 'backend'
    | 'model'
  >,
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

${notificationCalls(stack)}A recorded conversation through this stack, with its compactions:

npm run replay -- FILE.jsonl --url ${stack.chatUrl}

Ctrl-C ends all of it.
`;
}
