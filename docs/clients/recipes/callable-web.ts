import { httpsCallableFromURL, type Functions } from '@firebase/functions';

interface Chunk {
  type: string;
  delta?: string;
  data?: { kind?: string };
}

interface Answer {
  message: { parts: { type: string; text?: string }[] };
}

interface Question {
  conversationId: string;
  /** Draw it once and keep it: sent again, it is the same message. */
  messageId: string;
  text: string;
}

/** Sends a message; `show` gets the answer as far as it has come. Resolves to all of it. */
export async function ask(
  functions: Functions,
  { url, show, ...question }: Question & { url: string; show: (text: string) => void },
): Promise<string> {
  const chat = httpsCallableFromURL<unknown, Answer, Chunk>(functions, url);
  const { conversationId, messageId, text } = question;
  const { timeZone, locale } = Intl.DateTimeFormat().resolvedOptions();
  const { stream, data } = await chat.stream({
    conversationId,
    message: { id: messageId, parts: [{ type: 'text', text }] },
    clientContext: { timeZone, locale }, // the model is told what time it is for the user
  });
  // It rejects together with the stream, which is where the error is met.
  data.catch(() => undefined);
  let shown = '';
  for await (const chunk of stream) {
    if (chunk.data?.kind === 'restarted') shown = ''; // the answer began anew
    if (chunk.type === 'text-delta') show((shown += chunk.delta ?? ''));
  }
  const { message } = await data;
  return message.parts.map((part) => part.text ?? '').join('');
}
