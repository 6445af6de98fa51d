import { ERRORS_PATH } from '#shared/wire/errors/explain-reason.ts';
import type { ChatDependencies } from '../chat-dependencies.ts';

export const publicDocsUrl = (publicUrl: string): string =>
  `${publicUrl.replace(/\/$/, '')}${ERRORS_PATH}`;

/**
 * The address below which reasons of errors are explained: at PUBLIC_URL, else where the request itself was sent to,
 * which is said to nobody but its sender. A proxy that ends TLS says so in `X-Forwarded-Proto`.
 */
export function docsUrl(
  { PUBLIC_URL }: Pick<ChatDependencies['config'], 'PUBLIC_URL'>,
  request: { url: string; header: (name: string) => string | undefined },
): string {
  if (PUBLIC_URL !== undefined) return publicDocsUrl(PUBLIC_URL);
  const { protocol, host } = new URL(request.url);
  const isEncrypted =
    protocol === 'https:' || /^https\b/.test(request.header('x-forwarded-proto') ?? '');
  return `${isEncrypted ? 'https' : 'http'}://${host}${ERRORS_PATH}`;
}
