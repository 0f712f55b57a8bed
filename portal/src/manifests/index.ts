/** What manifests own, for pages of screens. Files without a page import manifest.ts. */
export { newManifest, type Spec, yamlOfNew } from './manifest.ts';
export { Owned, ShowChange } from './owned.tsx';
export { storedYaml } from './read.ts';
