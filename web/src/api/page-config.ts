/** What the page is told of its deployment, from `/config.json` beside it. */
export interface PageConfig {
  /** Address of the chat function, without a slash at its end. */
  chatUrl: string;
  /** An ID token as it is, where the deployment takes unsigned ones: the local stack. */
  token?: string;
  /** Where guests sign in, with the web key of the project. */
  firebase?: { apiKey: string; authUrl?: string; tokenUrl?: string };
  /** The control of a local stack. */
  supervisor?: { url: string; token: string };
}

/** Reads the configuration. Throws an Error that names the address when there is none. */
export async function readPageConfig(): Promise<PageConfig> {
  const response = await fetch('/config.json', { cache: 'no-store' });
  if (!response.ok) throw new Error(`/config.json: HTTP ${response.status}`);
  const config: PageConfig = JSON.parse(await response.text());
  return { ...config, chatUrl: config.chatUrl.replace(/\/$/, '') };
}
