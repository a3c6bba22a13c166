/** A folder for each episode, with tools for it. Needs Node. */
export { folderResource } from './worlds/folder/folder-resource.ts';
export { folderStore } from './worlds/folder/folder-store.ts';
export { type FolderToolsOptions, folderTools } from './worlds/folder/folder-tools.ts';
export { type Files, Folder, type FolderWorldOptions, folderWorld } from './worlds/folder/folder-world.ts';
