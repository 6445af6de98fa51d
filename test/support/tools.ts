import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** How to install what the model checker needs (Debian and Ubuntu; macOS: `brew install spin`, Xcode). */
export const INSTALL_MODEL_CHECKER = 'apt-get install spin gcc libc6-dev';

function isInstalled(program: string): boolean {
  return (process.env.PATH ?? '').split(delimiter).some((directory) => {
    try {
      accessSync(join(directory, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** Which of the given programs are not on the PATH. */
export const missingTools = (programs: readonly string[]): string[] =>
  programs.filter((program) => !isInstalled(program));

/** The programs of the model checker that are not on the PATH. */
export const missingModelChecker = () => missingTools(['spin', 'gcc']);

/** How to install Terraform, of which 1.11 or newer is needed. */
export const INSTALL_TERRAFORM = 'https://developer.hashicorp.com/terraform/install, 1.11 or newer';

/** `terraform`, where it is not on the PATH. */
export const missingTerraform = () => missingTools(['terraform']);
