import type OpenAI from 'openai';

interface Backend {
  baseUrl: string;
  idToken: string;
  /** Where the service demands App Check. */
  appCheckToken?: string;
}

/** A client for one user: `apiKey` is the user's Firebase ID token, which has to be renewed every hour. */
export const clientOptions = ({ baseUrl, idToken, appCheckToken }: Backend) => ({
  baseURL: `${baseUrl}/v1/openai`,
  apiKey: idToken,
  ...(appCheckToken && { defaultHeaders: { 'X-Firebase-AppCheck': appCheckToken } }),
});

/** Sends a message to a conversation; `show` gets the answer as far as it has come. Resolves to all of it. */
export async function ask(
  client: OpenAI,
  question: {
    conversationId: string;
    /** Draw it once and keep it: sent again, it is the same message. */
    messageId: string;
    text: string;
    show: (text: string) => void;
  },
): Promise<string> {
  const { conversationId, messageId, text, show } = question;
  const { timeZone, locale } = Intl.DateTimeFormat().resolvedOptions();
  const stream = await client.chat.completions.create(
    {
      model: 'recap',
      messages: [{ role: 'user', content: text }],
      metadata: {
        conversation_id: conversationId,
        client_context: JSON.stringify({ timeZone, locale }), // what time it is for the user
      },
      stream: true,
    },
    { headers: { 'Idempotency-Key': messageId } },
  );
  let shown = '';
  for await (const chunk of stream) {
    shown += chunk.choices[0]?.delta.content ?? '';
    show(shown);
  }
  return shown;
}
