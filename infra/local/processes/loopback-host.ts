// The last one is this machine as its Android emulator calls it.
const names = ['127.0.0.1', 'localhost', '[::1]', '10.0.2.2'];

/**
 * Whether a Host header names this machine. A foreign page can have its own name resolve to 127.0.0.1 (DNS
 * rebinding); its browser then takes what is served here for its own, but the header still holds its name.
 */
export function isLoopbackHost(host: string | undefined): boolean {
  return names.includes(host?.replace(/:\d+$/, '') ?? '');
}
