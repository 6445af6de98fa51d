/** Services that sign guests in, as the deployed page calls them. */
const SIGN_IN_ORIGINS = [
  'https://identitytoolkit.googleapis.com',
  'https://securetoken.googleapis.com',
];

/** Stands for the address of chat, until the page is deployed (docs/deploy.md). */
const CHAT_ORIGIN = 'https://chat.example';

/** What the deployed page may call; `firebase.json` says the same. */
export const DEPLOYED_ORIGINS: readonly string[] = [CHAT_ORIGIN, ...SIGN_IN_ORIGINS];

/**
 * Headers of every file of the page: scripts and styles of its own alone, nothing written into the document,
 * calls to the named origins, no frames around it.
 */
export function pageHeaders(origins: readonly string[]): Record<string, string> {
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data: blob:",
    `connect-src 'self' ${origins.join(' ')}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ];
  return {
    'content-security-policy': policy.join('; '),
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'cross-origin-opener-policy': 'same-origin',
  };
}
