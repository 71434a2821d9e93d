#compdef calltrap calltrap-static
# SPDX-License-Identifier: GPL-2.0-or-later
# zsh completion for calltrap, which knows itself what may come.

local line
local -a options others

for line in ${(f)"$(${(Q)words[1]} --complete "${(@Q)words[2,CURRENT]}" \
	2>/dev/null)"}; do
	case $line in
	:files)
		compset -P '--*='
		_files
		;;
	:commands)
		_command_names -e
		;;
	:users)
		_users
		;;
	-*)
		options+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
		;;
	*)
		others+=("${${line%%$'\t'*}//:/\\:}${${line#*$'\t'}:+:${line#*$'\t'}}")
		;;
	esac
done
(($#options)) && _describe -o option options
(($#others)) && _describe value others
