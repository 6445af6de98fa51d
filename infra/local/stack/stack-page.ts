import { type LocalPage, startPage } from '../page/start-page.ts';
import type { Stack } from './stack-children.ts';
import { localProjectId } from './stack-environment.ts';
import type { StackLog } from './stack-event.ts';
import { localUrl, type StackPorts } from './stack-parts.ts';
import { startSupervisor, type Supervisor } from '../supervisor/start-supervisor.ts';
import { unsignedToken } from '../processes/unsigned-token.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Whom the page and the printed calls act for. */
export const LOCAL_USER = 'ada';

/** The page may be open under either name of this machine. */
const originsOf = (pagePort: number): string[] => [
  localUrl(pagePort),
  `http://localhost:${pagePort}`,
];

/** Lets the page call chat, which is another origin. */
export const pageEnvironment = (shell: Environment, pagePort: number): Environment => ({
  CORS_ORIGINS: [...(shell.CORS_ORIGINS ? [shell.CORS_ORIGINS] : []), ...originsOf(pagePort)].join(
    ',',
  ),
});

export interface StackPage extends LocalPage {
  /** Absent where no faults are to be ordered. */
  supervisor?: Supervisor;
}

/** The page of a stack and, where it is wanted, the supervisor that its fault panel gives orders to. */
export async function startStackPage(options: {
  ports: StackPorts;
  hasSupervisor: boolean;
  stack: Pick<Stack, 'chatUrl' | 'compactionUrl' | 'fakeGeminiUrl' | 'processIds' | 'restart'>;
  log: StackLog;
}): Promise<StackPage> {
  const { ports, stack, log } = options;
  const supervisor = options.hasSupervisor
    ? await startSupervisor({ stack, ports, pageOrigins: originsOf(ports.page), log })
    : undefined;
  const page = await startPage({
    port: ports.page,
    config: {
      // Over a line that the supervisor can cut.
      chatUrl: supervisor?.chatUrl ?? stack.chatUrl,
      token: unsignedToken({ uid: LOCAL_USER, projectId: localProjectId, now: new Date() }),
      ...(supervisor && { supervisor: { url: supervisor.url, token: supervisor.token } }),
    },
  });
  return {
    ...page,
    ...(supervisor && { supervisor }),
    close: async () => {
      await Promise.all([page.close(), supervisor?.stop()]);
    },
  };
}
