/* The tags of a set-associative array: lookup, replacement, states. Shared by caches of all levels and TLBs.
 */
#ifndef EMU_MEM_TAGS_H
#define EMU_MEM_TAGS_H

enum tags_replacement { TAGS_LRU, TAGS_TREE_PLRU };

#endif
