import type { z } from 'zod';
import { refuseTooLong, toPart } from '#shared/wire/resources/message-parts.ts';
import type { sendMessageBody } from '#shared/wire/resources/messages.ts';
import { preferredLocale } from '#functions/chat/http/headers.ts';
import type { RouteDependencies } from '#functions/chat/route.ts';
import type { SendRequest } from '#functions/chat/turns/send/send-request.ts';

type Body = z.infer<typeof sendMessageBody>;

/** The message of a body as the use case takes it. Throws TEXT_TOO_LONG. */
export function messageOfBody(
  { config }: Pick<RouteDependencies, 'config'>,
  { id, parts, retention }: Body['message'],
): SendRequest['message'] {
  const { MAX_PART_BYTES: maxPartBytes, MAX_MESSAGE_BYTES: maxMessageBytes } = config;
  refuseTooLong(parts, { maxPartBytes, maxMessageBytes });
  return { id, parts: parts.map(toPart), ...(retention && { retention }) };
}

/** How the caller wants to be answered: in the language that the body names, else in that of the request. */
export function answerOptions(
  body: {
    locale?: string | null | undefined;
    onBusy?: Body['onBusy'] | null;
    recallTokens?: number | null | undefined;
    clientContext?: Body['clientContext'] | null;
    responseSchema?: Body['responseSchema'] | null;
  },
  header: (name: string) => string | undefined,
): Pick<SendRequest, 'locale' | 'onBusy' | 'recallTokens' | 'clientContext' | 'options'> {
  const locale = body.locale ?? preferredLocale(header('accept-language'));
  const { onBusy, recallTokens, clientContext, responseSchema } = body;
  return {
    ...(locale !== undefined && { locale }),
    ...(onBusy && { onBusy }),
    ...(typeof recallTokens === 'number' && { recallTokens }),
    ...(clientContext && { clientContext }),
    ...(responseSchema && { options: { responseSchema } }),
  };
}
