import { accessSync, constants, existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { cacheFolder } from './cache-folder.ts';

function pathOf(program: string, ...more: string[]): string | undefined {
  const folders = [...(process.env.PATH ?? '').split(delimiter), ...more];
  const paths = folders.map((folder) => join(folder, program));
  return paths.find((path) => {
    try {
      accessSync(path, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

const isInstalled = (program: string): boolean => pathOf(program) !== undefined;

/** Which of the given programs are not on the PATH. */
const missingTools = (programs: readonly string[]): string[] =>
  programs.filter((program) => !isInstalled(program));

/** How to install Terraform, of which 1.11 or newer is needed. */
export const INSTALL_TERRAFORM = 'https://developer.hashicorp.com/terraform/install, 1.11 or newer';

/** `terraform`, where it is not on the PATH. */
export const missingTerraform = () => missingTools(['terraform']);

/** How to install the browser of the page's tests. */
export const INSTALL_BROWSER =
  'apt-get install chromium-headless-shell; macOS: brew install chromium';

/**
 * The browsers that will do, the first found is taken. The headless one is best: with it the page's tests take 46 s of
 * processor time, with `chromium` 82 s (2026-11-30).
 */
const BROWSERS = [
  'chromium-headless-shell',
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
];

/** Path of a Chromium or Chrome, where one is on the PATH. */
export function browserPath(): string | undefined {
  return BROWSERS.map((name) => pathOf(name)).find((path) => path !== undefined);
}

/** `chromium`, where no such browser is on the PATH. */
export const missingBrowser = () => (browserPath() === undefined ? ['chromium'] : []);

/** How to install what compiles the client for Kotlin and runs it; its libraries come from Maven's own repository. */
export const INSTALL_MAVEN =
  'apt-get install maven openjdk-17-jre-headless; macOS: brew install maven';

/** The programs that compile and run the client for Kotlin and are not on the PATH. */
export const missingMaven = () => missingTools(['mvn', 'java']);

/** How to install what compiles the client for Dart. */
export const INSTALL_DART =
  '.ci/install-dart on Debian; else https://dart.dev/get-dart, 3.13 or newer';

/** Path of `dart`, on the PATH or where `.ci/install-dart` puts it. */
export function dartPath(): string | undefined {
  return pathOf('dart', join(cacheFolder('dart'), 'usr/lib/dart/bin'));
}

/** How to install what compiles the client for Swift. */
export const INSTALL_SWIFT = '.ci/install-swift on Debian; macOS: Xcode 16';

interface SwiftTools {
  swift: string;
  /** Goes before a program that it has compiled. */
  run: string[];
}

/** The compiler on the PATH, else that of `.ci/install-swift`; undefined: there is none. */
export function swiftTools(): SwiftTools | undefined {
  const swift = pathOf('swift');
  if (swift !== undefined) return { swift, run: [] };
  const bin = join(process.env.RECAP_SWIFT ?? cacheFolder('swift'), 'bin');
  return existsSync(join(bin, 'swift'))
    ? { swift: join(bin, 'swift'), run: [join(bin, 'run')] }
    : undefined;
}
